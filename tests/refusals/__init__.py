"""Programs that srcgrad refuses, each with the exact text of its refusal."""
