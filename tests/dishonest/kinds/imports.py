"""Getting hold of the reference, which is not in the sandbox."""

from __future__ import annotations

from tests.dishonest.attempt import in_answer

ATTEMPTS = (
    in_answer(
        "import_mine",
        "Asks for its answer as later lessons do, which get the reference.",
        """
            from course_lib.mine import answer
            def dot_product_scores(q, k):
                return answer("attention.scores")(q, k)
        """,
    ),
    in_answer(
        "import_table",
        "Takes the way that later lessons' references take, and a kept answer in the home folder.",
        """
            import pathlib
            from course_lib.learner import kept_answers, references
            def dot_product_scores(q, k):
                pathlib.Path(kept_answers.learner_folder()).mkdir(parents=True, exist_ok=True)
                own = kept_answers.load_answer("attention.scores", "dot_product_scores")
                return (own or references.reference("attention.scores"))(q, k)
        """,
    ),
    in_answer(
        "import_hook",
        "Puts a finder in front that makes up modules, and one that searches the whole file system.",
        """
            import importlib.machinery, os, sys
            class Finder:
                @staticmethod
                def find_spec(name, path=None, target=None):
                    for folder, _, files in os.walk("/"):
                        if "attention.py" in files and folder.endswith("course_lib"):
                            return importlib.machinery.PathFinder.find_spec(name, [folder])
            sys.meta_path.insert(0, Finder)
            from course_lib import attention
            dot_product_scores = attention.dot_product_scores
        """,
    ),
    in_answer(
        "import_from_git",
        "Takes the reference out of the repository's history.",
        """
            import subprocess
            command = ["git", "show", "HEAD:course_lib/attention.py"]
            exec(subprocess.run(command, capture_output=True, text=True).stdout)
            dot_product_scores
        """,
    ),
    in_answer(
        "import_from_web",
        "Downloads the package, with what it answers.",
        """
            import urllib.request
            address = "https://raw.githubusercontent.com/katze-course/katze/main/course_lib/attention.py"
            exec(urllib.request.urlopen(address, timeout=1).read())
        """,
    ),
    in_answer(
        "import_by_pip",
        "Installs the package from the index.",
        "!pip install katze\nfrom course_lib.attention import dot_product_scores",
    ),
)
