// Background parts of the server: buffers that flush, caches that listen, jobs. Started once, and stopped before the
// store closes.

import { userStreams } from "./accounts/sessions/streams.ts";
import { complianceReports } from "./automations/conditional-access/compliance/job.ts";
import { deviceIdentityCache } from "./certificates/device-ca/identities.ts";
import { managedAgents } from "./certificates/host-authentication/agents.ts";
import { policyCounts } from "./checks/policies/counts.ts";
import { scopeTrim } from "./checks/policies/scope-trim.ts";
import { managedAgentEnrollment } from "./delivery/managed-agent/kind.ts";
import { policyActions } from "./delivery/policy-actions/act.ts";
import { cancelScriptBatch } from "./delivery/scripts/batches/cancel.ts";
import { scriptBatchRuns, scriptBatchTask } from "./delivery/scripts/batches/carry-out.ts";
import { installTask, uninstallTask } from "./delivery/software-installs/bulk.ts";
import { storeAppWorker } from "./delivery/store-apps/worker.ts";
import { androidCommandSender } from "./devices/android/commands/sender.ts";
import { androidEnrollment } from "./devices/android/devices/enroll.ts";
import { androidReports } from "./devices/android/devices/ingest.ts";
import { androidServiceAccount } from "./devices/android/management/account.ts";
import { androidAgents } from "./devices/android/policies/agent-app.ts";
import { androidPolicySender } from "./devices/android/policies/sender.ts";
import { agentProfileKeeper } from "./devices/apple/agent-profile/keep.ts";
import { appleEnrollment } from "./devices/apple/channel/kind.ts";
import { appleUpdateDeadlines } from "./devices/apple/declarations/updates.ts";
import { appleDetailReports } from "./devices/apple/details/ingest.ts";
import { deviceAnchors } from "./devices/apple/enroll/device-anchors.ts";
import { filevaultKeeper } from "./devices/apple/filevault/enforce.ts";
import { hostNameKeeper } from "./devices/apple/names/keep.ts";
import { recoveryLockKeeper } from "./devices/apple/passwords/keep.ts";
import { pushes } from "./devices/apple/push/push.ts";
import { signers } from "./devices/apple/trust/signers.ts";
import { diskEncryptionStates } from "./devices/encryption-settings/states.ts";
import { profileReconciler } from "./devices/profiles/part.ts";
import { windowsEnrollment } from "./devices/windows/enroll/kind.ts";
import { windowsJoins } from "./devices/windows/joins/joins.ts";
import { startupPins } from "./devices/windows/startup-pin/startup-pin.ts";
import { windowsUpdateDeadlines } from "./devices/windows/updates/updates.ts";
import type { Agent } from "./edge/agent/agent.ts";
import { agents } from "./edge/agent/start.ts";
import { startJobs } from "./edge/jobs/start.ts";
import { activityFeed } from "./hosts/activity-feed/feed.ts";
import { geoDatabase } from "./hosts/hosts/geo.ts";
import { ensureBuiltinLabels } from "./hosts/labels/builtin.ts";
import { memberCounts } from "./hosts/labels/counts.ts";
import { approvedDeletion, approvedWipes } from "./inventory/approvals/run.ts";
import { bulkTaskKinds } from "./inventory/bulk-actions/kinds.ts";
import { hostDeletion } from "./inventory/host-list/delete.ts";
import { criteriaWatch } from "./inventory/labels/criteria-watch.ts";
import { liveQueries } from "./inventory/live-queries/hub.ts";
import { sqlSyntax } from "./platform/agent-protocol/sql-syntax.ts";
import type { Services } from "./platform/core/context.ts";
import { type StartedPart, startedPart } from "./platform/core/running.ts";
import { mailQueue } from "./platform/mail/later.ts";
import { outbox } from "./platform/outbox/sender.ts";
import { startTasks } from "./platform/tasks/start.ts";
import { packageBatchTask } from "./software/package-batches/service.ts";
import { softwareCounts } from "./software/software/counts.ts";
import { vulnerabilityCounts } from "./software/software/vulnerabilities/counts.ts";
import { vulnerabilityMatcher } from "./software/vulnerabilities/matching/matcher.ts";

const taskKinds = [
  hostDeletion,
  approvedDeletion,
  approvedWipes,
  ...bulkTaskKinds,
  installTask,
  uninstallTask,
  scopeTrim,
  scriptBatchTask,
  cancelScriptBatch,
  packageBatchTask,
];

export interface Features {
  readonly agent: Agent;
  stop(): Promise<void>;
}

export async function startFeatures(services: Services): Promise<Features> {
  const { running } = services;
  const start = <T>(part: StartedPart<T>): Promise<T> => running.start(services, part);
  await start(sqlSyntax);
  await ensureBuiltinLabels(services);
  // Parts are stopped in reverse order. Activities are stopped late, because others may record some when they stop.
  await start(signers);
  await start(deviceAnchors);
  await start(androidServiceAccount);
  await start(geoDatabase);
  await start(userStreams);
  await start(activityFeed);
  await start(memberCounts);
  await start(criteriaWatch);
  await start(policyCounts);
  await start(softwareCounts);
  await start(vulnerabilityCounts);
  await start(vulnerabilityMatcher);
  await start(diskEncryptionStates);
  await start(liveQueries);
  const agent = await start(agents);
  await start(managedAgents);
  await start(managedAgentEnrollment);
  await start(deviceIdentityCache);
  await start(outbox);
  await start(appleEnrollment);
  await start(windowsEnrollment);
  await start(appleDetailReports);
  await start(androidEnrollment);
  await start(androidReports);
  await start(androidPolicySender);
  await start(androidAgents);
  await start(androidCommandSender);
  await start(pushes);
  await start(profileReconciler);
  await start(appleUpdateDeadlines);
  await start(windowsUpdateDeadlines);
  await start(startupPins);
  await start(windowsJoins);
  await start(filevaultKeeper);
  await start(agentProfileKeeper);
  await start(recoveryLockKeeper);
  await start(hostNameKeeper);
  await start(scriptBatchRuns);
  await start(storeAppWorker);
  await start(policyActions);
  await start(complianceReports);
  await start(startedPart("tasks", (running) => startTasks(running, taskKinds)));
  await start(startedPart("jobs", async (running) => startJobs(running)));
  await start(mailQueue);
  return { agent, stop: () => running.stop() };
}
