"""The small forms that students write by hand in lessons: a module for each lesson, withheld like all references.

A function here has the name of the student's, which the library's may also have: `beam_search` in this package
continues one sentence with any model, `course_lib.decoding.beam.search` a whole batch.
"""
