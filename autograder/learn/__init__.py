"""`katze learn`: a folder to work in, and JupyterLab on its first page.

Read `folder.py` (what is copied, and what stays), `newer.py` (a lesson's new version around old answers), `script.py`
(a lesson without a notebook) and `lab.py` (opening it), in that order.
"""
