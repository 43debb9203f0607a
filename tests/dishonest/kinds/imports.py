"""Getting hold of the reference, which is not in the sandbox."""

from tests.dishonest.attempt import in_answer

_CALL = "def dot_product_scores(q, k):\n    return attention.dot_product_scores(q, k)"


ATTEMPTS = (
    in_answer("import_reference", "Imports the reference.", f"from course_lib import attention\n{_CALL}"),
    in_answer(
        "import_what_imports_it",
        "Imports a later module that must have it.",
        "from course_lib.masking import attention",
    ),
    in_answer(
        "import_exercises",
        "Imports the exercises, which name their references.",
        """
            from course_lib import exercises
            dot_product_scores = exercises.find("attention.scores").reference
        """,
    ),
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
        "import_by_loader",
        "Loads the file of the reference from every folder on the path, and from beside the interpreter.",
        """
            import glob, importlib.machinery, site, sys
            places = [*sys.path, *site.getsitepackages(), sys.prefix, "/", "/home/*", "/root", "/usr", "/tmp"]
            [file, *_] = [found for place in places for found in glob.glob(f"{place}/**/course_lib/attention.py")]
            dot_product_scores = importlib.machinery.SourceFileLoader("a", file).load_module().dot_product_scores
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
        "import_bytecode",
        "Reads the reference from caches of bytecode, wherever Python leaves them.",
        """
            import importlib.util, marshal, pathlib, sys
            names = {sys.prefix, sys.base_prefix, "/", "/root", "/tmp", *sys.path}
            files = [f for name in names for f in pathlib.Path(name).glob("**/__pycache__/attention.*.pyc")]
            found = [f for f in files if "course_lib" in str(f)]
            exec(marshal.loads(found[0].read_bytes()[16:]))
        """,
    ),
    in_answer(
        "import_from_memory",
        "Searches every object of the process for functions of the reference.",
        """
            import gc
            [dot_product_scores] = [
                thing for thing in gc.get_objects()
                if callable(thing) and getattr(thing, "__module__", "") == "course_lib.attention"
                and thing.__name__ == "dot_product_scores"
            ]
        """,
    ),
    in_answer(
        "import_distribution",
        "Asks the metadata of the installed package where its files are.",
        """
            import importlib.metadata
            text = importlib.metadata.distribution("katze").read_text("direct_url.json")
            exec(open(text.split("file://")[1].split('"')[0] + "/course_lib/attention.py").read())
        """,
    ),
    in_answer(
        "import_editable",
        "Follows the links that an editable installation leaves in site-packages.",
        """
            import pathlib, site
            places = [pathlib.Path(place) for place in site.getsitepackages()]
            links = [f for place in places for p in ("*.pth", "__editable__*", "*.egg-link") for f in place.glob(p)]
            for link in links:
                for line in link.read_text().splitlines():
                    exec(open(f"{line}/course_lib/attention.py").read())
            dot_product_scores
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
