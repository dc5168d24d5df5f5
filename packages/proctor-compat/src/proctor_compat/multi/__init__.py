"""The names of MULTI-Benchmark (`eval/metrics.py`) and of the article about it, on Proctor's parts.

    from proctor_compat.multi import EvaluateFuncDict
    EvaluateFuncDict["自定义题型"] = lambda pred, label, args: (score, total_score)      # or three values, with improvement

`python -m proctor_compat.multi COMMAND …` runs the original's scripts with their flags: eval, metrics, serve, extract,
merge, hard, convert, test.
"""

from proctor_benchmarks.multi.markdown_images import extract_image_list_from_md, infer_lang_from_question
from proctor_compat.multi.article import (
    AdaptiveThresholdAssertion,
    CustomMetrics,
    image_text_assertion,
    integrated_evaluation,
    multi_turn_assertion,
)
from proctor_compat.multi.evaluator import MultiAssertionEvaluator
from proctor_compat.multi.functions import (
    EvaluateFuncDict,
    FillInTheBlankEval,
    MultipleAnswersChoiceEval,
    OpenendQuestionEval,
    SingleAnswerChoiceEval,
    check_rejection,
    evaluate_question,
    position_sensitive_extraction,
    reference_comparison_assertion,
)
from proctor_compat.multi.inspecting import (
    analyze_failure,
    calculate_score,
    debug_assertion,
    evaluate_every_problem,
    generate_evaluation_report,
    load_ground_truth,
    load_predictions,
)

__all__ = [
    "AdaptiveThresholdAssertion",
    "CustomMetrics",
    "EvaluateFuncDict",
    "FillInTheBlankEval",
    "MultiAssertionEvaluator",
    "MultipleAnswersChoiceEval",
    "OpenendQuestionEval",
    "SingleAnswerChoiceEval",
    "analyze_failure",
    "calculate_score",
    "check_rejection",
    "debug_assertion",
    "evaluate_every_problem",
    "evaluate_question",
    "extract_image_list_from_md",
    "generate_evaluation_report",
    "image_text_assertion",
    "infer_lang_from_question",
    "integrated_evaluation",
    "load_ground_truth",
    "load_predictions",
    "multi_turn_assertion",
    "position_sensitive_extraction",
    "reference_comparison_assertion",
]
