"""One course on one machine's JupyterHub, with nbgrader's exchange: see docs/jupyterhub.md."""

c = get_config()  # the loader gives this name

COURSE = "katze"  # as c.CourseDirectory.course_id in nbgrader_config.py, here and in the course's folder
GRADER = "grader-katze"  # the account that has the course's folder; nobody logs in to it
INSTRUCTORS = ["instructor"]
HOST = "https://hub.example.org"  # of the hub; every account and the course get a name below it

FOLDER = f"/home/{GRADER}/katze"  # a clone, with an environment of its own: nobody else may look into it
STUDENTS = "/opt/class"  # the environment of the students' notebooks
SYSTEM = "/usr/local/bin:/usr/bin:/bin"

# The machine's own accounts and passwords: each student is a user of the system, whose files are their own.
c.JupyterHub.authenticator_class = "pam"
c.Authenticator.allow_all = True
c.Authenticator.blocked_users = {GRADER, "root"}

# A student's server may serve any page. On the hub's own name, that page could act with the cookies of whoever looks at
# it: an instructor's at the course, for one. So each server has a name, and thereby an origin, of its own.
c.JupyterHub.subdomain_host = HOST

c.Spawner.cmd = [f"{STUDENTS}/bin/jupyterhub-singleuser"]
c.Spawner.default_url = "/lab"
c.Spawner.environment = {"PATH": f"{STUDENTS}/bin:{SYSTEM}"}

# One JupyterLab in the course's folder, for all instructors: its Formgrader, and a terminal for `katze grade`. Whoever
# enters is asked first, since a link on any page could lead there (`oauth_no_confirm` would let it).
c.JupyterHub.services = [
    {
        "name": COURSE,
        "url": "http://127.0.0.1:9999",
        "command": [f"{FOLDER}/.venv/bin/jupyterhub-singleuser"],
        "user": GRADER,
        "cwd": FOLDER,
        "environment": {"PATH": f"{FOLDER}/.venv/bin:{SYSTEM}", "JUPYTERHUB_DEFAULT_URL": "/lab"},
    }
]
c.JupyterHub.load_groups = {f"formgrade-{COURSE}": {"users": INSTRUCTORS}}
c.JupyterHub.load_roles = [
    {
        "name": f"formgrade-{COURSE}",
        "groups": [f"formgrade-{COURSE}"],
        "scopes": [f"access:services!service={COURSE}"],
    }
]
