// The agent side of the server: caches, and what replies to agents.

import { compareDevices } from "../../automations/conditional-access/compliance/inventory.ts";
import { CarveIntake } from "../../checks/carves/intake.ts";
import { createPolicyCache } from "../../checks/policies/cache.ts";
import { FailureIntake } from "../../checks/queries/failures.ts";
import { createForwarding } from "../../checks/queries/forwarding.ts";
import { createPlanCache } from "../../checks/queries/plan.ts";
import { ReportIntake } from "../../checks/queries/reports.ts";
import { createLabelCache } from "../../hosts/labels/dynamic.ts";
import type { Services } from "../../platform/core/context.ts";
import { startedPart } from "../../platform/core/running.ts";
import { Agent } from "./agent.ts";
import { ConfigCache } from "./config/cache.ts";
import { ConfigReplies } from "./config/replies.ts";
import { Enrollment } from "./enroll/enroll.ts";
import { HostCache } from "./hosts/cache.ts";
import { SeenBuffer } from "./hosts/seen.ts";
import { Senders } from "./hosts/senders.ts";
import { createLoad } from "./http/load.ts";
import { KEY_MAX } from "./http/sender.ts";
import { Ingest } from "./ingest/ingest.ts";
import { Polls } from "./ingest/polls.ts";
import { inventorySources } from "./ingest/sources.ts";
import { DetailQueries } from "./inventory/detail-queries.ts";
import { LogIntake } from "./logs/log.ts";

export const agents = startedPart("query agents", startAgent);

async function startAgent(services: Services): Promise<Agent> {
  const labels = await createLabelCache(services);
  const policies = await createPolicyCache(services, compareDevices);
  const plans = await createPlanCache(services);
  const configs = await ConfigCache.start(services, plans);
  const cache = await HostCache.start(services);
  const enrollment = new Enrollment(services, { hosts: cache, configs });
  const details = new DetailQueries(services.extensions.of(inventorySources));
  const caches = { configs, labels, policies, details };
  const ingest = await Ingest.start(services, caches);
  const reports = await ReportIntake.start(services, plans);
  const failures = new FailureIntake(services, plans);
  const intake = new LogIntake(services, {
    forwarded: createForwarding(plans),
    report: (host, lines) => reports.storeReports(host, lines),
    failures: (host, lines) => failures.storeFailures(host, lines),
  });
  const carves = new CarveIntake(services, async (key) =>
    key.length > KEY_MAX ? null : ((cache.cached(key) ?? (await cache.find(key)))?.id ?? null),
  );
  const seen = new SeenBuffer(services);
  const load = createLoad(services.settings.max_agent_requests);
  const senders = new Senders(services, { cache, seen, load });
  return new Agent(services, {
    senders,
    polls: new Polls(services, { cache, senders, load, caches }),
    configs,
    configReplies: new ConfigReplies(services),
    details,
    ingest,
    intake,
    enrollment,
    carves,
    seen,
    load,
    stoppable: [enrollment, ingest, seen, reports, intake, cache, configs, plans, labels, policies, senders, load],
  });
}
