"""Makes a folder to work in for `katze learn`, and opens JupyterLab on its first page.

Read `folder.py` (what is copied, and what is kept), `newer.py` (moving answers to a lesson's new version), `script.py`
(a lesson without a notebook) and `lab.py` (opening it), in that order.
"""
