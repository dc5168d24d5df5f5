"""Everything that programs can ask for, below `/api/v1` and by the Model Context Protocol: the one table of it."""

from proctor_web.authoring import criteria_file, editing, results
from proctor_web.chats import service
from proctor_web.comparing import comparison, gating, leaderboard, trends, why
from proctor_web.comparing import samples as compared_samples
from proctor_web.inspecting import audits, findings
from proctor_web.operations import Operation
from proctor_web.results import report
from proctor_web.reviewing import queues
from proctor_web.runs import actions, choices, progress
from proctor_web.runs import listing as run_listing
from proctor_web.samples import cases, labels, listing, sample
from proctor_web.team import log

OPERATIONS = (
    Operation("GET", "/evalsets", editing.list_sets),
    Operation("POST", "/evalsets", editing.create_set),
    Operation("GET", "/evalsets/set", editing.open_set),
    Operation("PATCH", "/evalsets/set", editing.change_set),
    Operation("GET", "/evalsets/case", editing.open_case),
    Operation("POST", "/evalsets/case", editing.add_case),
    Operation("PUT", "/evalsets/case", editing.change_case),
    Operation("DELETE", "/evalsets/case", editing.delete_case),
    Operation("POST", "/evalsets/case/duplicate", editing.duplicate_case),
    Operation("POST", "/evalsets/case/move", editing.move_case),
    Operation("POST", "/evalsets/undo", editing.undo),
    Operation("GET", "/evalsets/criteria", criteria_file.get_criteria),
    Operation("PUT", "/evalsets/criteria", criteria_file.change_criteria),
    Operation("GET", "/evalsets/runs", results.list_runs_of_set),
    Operation("POST", "/evalsets/runs", results.run_cases),
    Operation("GET", "/evalsets/case/history", results.case_history),
    Operation("GET", "/evalsets/case/result", results.case_result),
    Operation("POST", "/evalsets/case/accept", results.accept_result),
    Operation("GET", "/chats/agents", service.list_agents),
    Operation("GET", "/chats", service.list_chats),
    Operation("POST", "/chats", service.start_chat),
    Operation("GET", "/chats/{chat}", service.get_chat),
    Operation("DELETE", "/chats/{chat}", service.delete_chat),
    Operation("POST", "/chats/{chat}/messages", service.send_message),
    Operation("POST", "/chats/{chat}/stop", service.stop_reply),
    Operation("POST", "/chats/{chat}/save", service.save_chat),
    Operation("GET", "/compare", comparison.compare_runs),
    Operation("GET", "/compare/samples", compared_samples.list_compared_samples),
    Operation("GET", "/compare/sample", compared_samples.compare_sample),
    Operation("GET", "/compare/why", why.explain_difference),
    Operation("GET", "/gate", gating.decide_gate),
    Operation("GET", "/leaderboard", leaderboard.rank_agents),
    Operation("GET", "/trends", trends.follow_task),
    Operation("GET", "/runs/{run}/audit", audits.get_audit),
    Operation("POST", "/runs/{run}/audit", audits.accept),
    Operation("GET", "/runs/{run}/findings", findings.list_findings),
    Operation("POST", "/runs/{run}/findings", findings.label_finding),
    Operation("GET", "/runs/{run}/samples", listing.list_samples),
    Operation("GET", "/runs/{run}/facets", listing.list_facets),
    Operation("GET", "/queues", queues.list_queues),
    Operation("POST", "/queues", queues.create_queue),
    Operation("GET", "/queues/{queue}", queues.show_queue),
    Operation("GET", "/runs/{run}/report", report.get_report),
    Operation("GET", "/runs/{run}/estimates", report.get_estimates),
    Operation("GET", "/runs", run_listing.list_runs),
    Operation("GET", "/runs/{run}/progress", progress.get_progress),
    Operation("POST", "/runs", actions.start_run),
    Operation("POST", "/runs/{run}/stop", actions.stop_run),
    Operation("POST", "/runs/{run}/resume", actions.resume_run),
    Operation("DELETE", "/runs/{run}", actions.delete_run),
    Operation("POST", "/runs/{run}/notes", actions.say_about_run),
    Operation("GET", "/baselines", actions.list_baselines),
    Operation("GET", "/choices", choices.list_choices),
    Operation("GET", "/choices/options", choices.list_options),
    Operation("GET", "/runs/{run}/sample", sample.show_sample),
    Operation("GET", "/runs/{run}/sample/record", sample.sample_record),
    Operation("GET", "/runs/{run}/sample/matches", sample.find_in_sample),
    Operation("GET", "/runs/{run}/sample/runs", sample.list_other_runs),
    Operation("GET", "/runs/{run}/sample/judge-requests", sample.list_judge_requests),
    Operation("POST", "/runs/{run}/marks", labels.mark_sample),
    Operation("POST", "/runs/{run}/labels", labels.save_label),
    Operation("DELETE", "/runs/{run}/labels", labels.remove_label),
    Operation("POST", "/runs/{run}/cases", cases.add_case),
    Operation("GET", "/team/audit", log.list_audit),
    Operation("GET", "/team/sessions", log.list_sessions),
    Operation("DELETE", "/team/sessions/{id}", log.revoke_session),
)
