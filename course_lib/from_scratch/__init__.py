"""The small forms that lessons have students write by hand; the library has its own, at full size.

A function here is called what a student's is called, and so may have the name of the library's: `beam_search` of this
package goes on with one sentence of any model, `course_lib.decoding.beam.beam_search` with a whole batch. Everywhere
else no two public names of different meaning are alike (`tests/test_names.py`).
"""
