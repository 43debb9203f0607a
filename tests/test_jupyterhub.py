"""The settings for a JupyterHub: nbgrader knows each of its own, and they fit each other."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import Exchange
from traitlets.config.loader import PyFileConfigLoader

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "jupyterhub"
PAGE = (ROOT / "docs" / "jupyterhub.md").read_text(encoding="utf-8")


def load(path: Path) -> Any:
    return PyFileConfigLoader(path.name, path=str(path.parent)).load_config()


HUB, EVERYONE = load(FOLDER / "jupyterhub_config.py"), load(FOLDER / "nbgrader_config.py")


def test_students_and_the_course_mean_the_same_course() -> None:
    course = load(ROOT / "nbgrader_config.py").CourseDirectory.course_id
    [service] = HUB.JupyterHub.services
    assert service["name"] == EVERYONE.CourseDirectory.course_id == course
    assert f"`/services/{course}/formgrader`" in PAGE


def test_nbgrader_knows_every_setting() -> None:
    known = {"CourseDirectory": CourseDirectory, "Exchange": Exchange}
    for section, settings in EVERYONE.items():
        assert settings.keys() <= known[section].class_traits(config=True).keys()
    assert f"/srv/nbgrader/exchange && chmod 777 {EVERYONE.Exchange.root}" in PAGE


def test_only_instructors_enter_the_course_and_nobody_its_account() -> None:
    [service], [role] = HUB.JupyterHub.services, HUB.JupyterHub.load_roles
    [group] = HUB.JupyterHub.load_groups
    assert role["groups"] == [group]
    assert role["scopes"] == [f"access:services!service={service['name']}"]
    assert "users" not in role
    assert {service["user"], "root"} <= HUB.Authenticator.blocked_users
    assert service["cwd"].startswith(f"/home/{service['user']}/")
    assert f"chmod 700 /home/{service['user']}" in PAGE


def test_no_student_s_page_shares_an_origin_with_the_course() -> None:
    """Else it could act there with an instructor's cookies (JupyterHub's chapter on web security)."""
    host = urlsplit(HUB.JupyterHub.subdomain_host)
    assert (host.scheme, host.path) == ("https", "")
    assert not any(service.get("oauth_no_confirm") for service in HUB.JupyterHub.services)
    [service] = HUB.JupyterHub.services
    for name in (f"*.{host.netloc}", f"https://{service['name']}--service.{host.netloc}", "`oauth_no_confirm`"):
        assert name in PAGE, "the page says what has to be set up for it"


def test_students_start_another_environment_than_the_one_that_grades() -> None:
    [service] = HUB.JupyterHub.services
    [grades], [starts] = service["command"], HUB.Spawner.cmd
    assert Path(grades).is_relative_to(service["cwd"])
    assert not Path(starts).is_relative_to(service["cwd"])
    for command, path in ((grades, service["environment"]["PATH"]), (starts, HUB.Spawner.environment["PATH"])):
        assert path.split(":")[0] == str(Path(command).parent)  # nbgrader looks for alembic there
    assert f"python3 -m venv {Path(starts).parents[1]}" in PAGE
