# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Words of a text counted: where one begins, and how many letters it has."""

import numpy as np

import cuda.core.driver.autoinit
from cuda.core.driver import gpuarray
from cuda.core.driver.elementwise import ElementwiseKernel
from cuda.core.driver.reduction import ReductionKernel
from cuda.core.driver.scan import ExclusiveScanKernel

text = (b"It was the best of times, it was the worst of times, it was the age of wisdom; " * 12) + b"the end"
letters = gpuarray.to_gpu(np.frombuffer(text, np.uint8))

is_letter = """
__device__ inline bool letter(unsigned char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
__device__ inline bool begins(const unsigned char *t, long i) { return letter(t[i]) && (i == 0 || !letter(t[i - 1])); }
"""
count_words = ReductionKernel(
    np.int32,
    neutral="0",
    reduce_expr="a+b",
    map_expr="begins(t, i) ? 1 : 0",
    arguments="const unsigned char *t",
    preamble=is_letter,
)
words = int(count_words(letters).get())
expected = text.replace(b",", b" ").replace(b";", b" ").split()
assert words == len(expected)

# The scan of the marks gives the index at which the position of each word is stored.
marks = gpuarray.empty(letters.shape, np.int32)
mark = ElementwiseKernel("const unsigned char *t, int *marks", "marks[i] = begins(t, i)", "mark", preamble=is_letter)
mark(letters, marks)
places = marks.copy()
ExclusiveScanKernel(np.int32, "a+b", neutral="0")(places)
starts = gpuarray.empty(words, np.int32)
compact = ElementwiseKernel("const int *marks, const int *places, int *starts", "if (marks[i]) starts[places[i]] = i")
compact(marks, places, starts)
lengths = gpuarray.zeros(words, np.int32)
measure = ElementwiseKernel(
    "const int *starts, int *lengths, const unsigned char *t, int size",
    "int end = starts[i]; while (end < size && letter(t[end])) ++end; lengths[i] = end - starts[i]",
    "measure",
    preamble=is_letter,
)
measure(starts, lengths, letters, letters.size)
assert lengths.get().tolist() == [len(word) for word in expected]
found = starts.get()
assert sum(text[s : s + 3].lower() == b"the" for s in found.tolist()) == sum(w.lower() == b"the" for w in expected)
print("word count OK")
