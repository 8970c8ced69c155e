// Background parts of the server: buffers that flush, caches that listen, jobs. Started once, and stopped before the
// store closes.

import { activityFeed } from "./activity-feed/feed.ts";
import { type Agent, agents } from "./agent/start.ts";
import { sqlSyntax } from "./agent-protocol/sql-syntax.ts";
import { approvedDeletion } from "./approvals/run.ts";
import { complianceReports } from "./conditional-access/compliance/job.ts";
import type { Services } from "./core/context.ts";
import { type StartedPart, startedPart } from "./core/running.ts";
import { deviceIdentityCache } from "./device-ca/identities.ts";
import { adoptScriptRuns } from "./host-actions/earlier-runs.ts";
import { hostDeletion } from "./host-list/delete.ts";
import { geoDatabase } from "./hosts/geo.ts";
import { startJobs } from "./jobs/start.ts";
import { ensureBuiltinLabels } from "./labels/builtin.ts";
import { memberCounts } from "./labels/counts.ts";
import { criteriaWatch } from "./labels/criteria-watch.ts";
import { liveQueries } from "./live-queries/hub.ts";
import { mailQueue } from "./mail/later.ts";
import { managedAgents } from "./managed-agent/agents.ts";
import { androidCommandSender } from "./mdm/android/commands/sender.ts";
import { androidEnrollment } from "./mdm/android/devices/enroll.ts";
import { androidReports } from "./mdm/android/devices/ingest.ts";
import { androidServiceAccount } from "./mdm/android/management/account.ts";
import { androidAgents } from "./mdm/android/policies/agent-app.ts";
import { androidPolicySender } from "./mdm/android/policies/sender.ts";
import { agentProfileKeeper } from "./mdm/apple/agent-profile/keep.ts";
import { appleEnrollment } from "./mdm/apple/channel/kind.ts";
import { appleUpdateDeadlines } from "./mdm/apple/declarations/updates.ts";
import { appleDetailReports } from "./mdm/apple/details/ingest.ts";
import { deviceAnchors } from "./mdm/apple/enroll/device-anchors.ts";
import { filevaultKeeper } from "./mdm/apple/filevault/enforce.ts";
import { hostNameKeeper } from "./mdm/apple/names/keep.ts";
import { recoveryLockKeeper } from "./mdm/apple/passwords/keep.ts";
import { pushes } from "./mdm/apple/push/push.ts";
import { signers } from "./mdm/apple/trust/signers.ts";
import { diskEncryptionStates } from "./mdm/disk-encryption/states.ts";
import { profileReconciler } from "./mdm/profiles/part.ts";
import { windowsEnrollment } from "./mdm/windows/enroll/kind.ts";
import { windowsJoins } from "./mdm/windows/joins/joins.ts";
import { startupPins } from "./mdm/windows/startup-pin/startup-pin.ts";
import { windowsUpdateDeadlines } from "./mdm/windows/updates/updates.ts";
import { outbox } from "./outbox/sender.ts";
import { packageBatchTask } from "./package-batches/service.ts";
import { policyCounts } from "./policies/counts.ts";
import { scopeTrim } from "./policies/scope-trim.ts";
import { policyActions } from "./policy-actions/act.ts";
import { cancelScriptBatch } from "./scripts/batches/cancel.ts";
import { scriptBatchRuns, scriptBatchTask } from "./scripts/batches/carry-out.ts";
import { adoptCategories } from "./self-service/categories.ts";
import { userStreams } from "./sessions/streams.ts";
import { softwareCounts } from "./software/counts.ts";
import { vulnerabilityCounts } from "./software/vulnerabilities/counts.ts";
import { storeAppWorker } from "./store-apps/worker.ts";
import { startTasks } from "./tasks/start.ts";
import { vulnerabilityMatcher } from "./vulnerabilities/matching/run.ts";

const taskKinds = [hostDeletion, approvedDeletion, scopeTrim, scriptBatchTask, cancelScriptBatch, packageBatchTask];

export interface Features {
  readonly agent: Agent;
  stop(): Promise<void>;
}

export async function startFeatures(services: Services): Promise<Features> {
  const { running } = services;
  const start = <T>(part: StartedPart<T>): Promise<T> => running.start(services, part);
  await start(sqlSyntax);
  await ensureBuiltinLabels(services);
  await adoptScriptRuns(services);
  await adoptCategories(services);
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
  await start(startedPart("tasks", (given) => startTasks(given, taskKinds)));
  await start(startedPart("jobs", async (given) => startJobs(given)));
  await start(mailQueue);
  return { agent, stop: () => running.stop() };
}
