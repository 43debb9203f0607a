"""The small forms that lessons have students write by hand; the library has its own, at full size.

A function here is called what a student's is called, and so may share a name with the library's: `beam_search` of this
package continues one sentence with any model, `course_lib.decoding.beam.beam_search` a whole batch. Everywhere
else no two public names of different meaning are alike (`tests/test_names.py`).
"""
