r"""One spelling for each way of writing the same mathematics.

`latex` takes a text apart and writes it again; what it asks first: `symbols` (Unicode, what people
type), `plain_numbers` (digits without what writes them for the eye), `words` (what is no
mathematics, numbers and dates in words) and last `style` (one convention of several).
"""

from unhack.verifiers.answers.spelling.latex import MAX_SPELLED_CHARS, SpellingError, spell

__all__ = ["MAX_SPELLED_CHARS", "SpellingError", "spell"]
