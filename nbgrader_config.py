"""The course, for Katze and for nbgrader alike.

A fork changes one line: `c.Katze.repository`, then runs `katze release`.
"""

from autograder.intake.timestamps import mend_formgrader

c = get_config()  # the loader gives this name

# Where the course lives on GitHub, as OWNER/NAME: the link to Colab and the install line of every notebook follow it.
c.Katze.repository = "katze-course/katze"

# Students may see a solution once they have tried. False, and `katze release`, leave all of them out of the package.
c.Katze.solutions = True

# Lessons say what our own lectures' slides have, folded. False, and `katze release`, leave that out.
c.Katze.slides = True

c.CourseDirectory.course_id = "katze"

# solutions/ is the source that people write; `katze release` makes nbgrader's source from it, and then the release.
c.CourseDirectory.source_directory = "build/source"
c.CourseDirectory.release_directory = "notebooks"

# Feedback and formgrader show what students' cells have put out: text, tables and pictures, nothing that runs.
c.HTMLExporter.sanitize_html = True
c.HTMLExporter.filters = {"clean_html": "autograder.course.filters.clean_html"}

# Else one student's timestamp.txt that holds no time would close formgrader's page of the whole lesson.
mend_formgrader()
