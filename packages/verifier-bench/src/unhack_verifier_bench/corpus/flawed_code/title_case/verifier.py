"""The cases as a unittest suite that imports the solution."""

import importlib.util
import io
import json
import unittest


def _suite(function, cases):
    class Cases(unittest.TestCase):
        def test_types(self):
            for case in cases:
                self.assertIsInstance(function(*case["args"]), str)

        def test_values(self):
            for case in cases:
                with self.subTest(args=case["args"]):
                    self.assertEqual(function(*case["args"]), case["expected"])

    return unittest.defaultTestLoader.loadTestsFromTestCase(Cases)


def verify(solution_path, test_cases_path):
    """True when the suite is green and both tests ran."""
    spec = importlib.util.spec_from_file_location("solution", solution_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with open(test_cases_path) as file:
        cases = json.load(file)
    result = unittest.TextTestRunner(stream=io.StringIO()).run(_suite(module.title_case, cases))
    return result.wasSuccessful() and result.testsRun == 2
