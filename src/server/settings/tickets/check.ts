// Checks that tickets can be created in a tracker, before its integration is saved.
import { z } from "zod";
import type { Integrations } from "../../../api/settings/app-config.ts";
import type { Services } from "../../platform/core/context.ts";
import type { FieldError } from "../../platform/core/errors.ts";
import { fetchOutbound, OutboundError } from "../../platform/core/outbound/fetch.ts";
import { jsonOf } from "../../platform/core/outbound/reply.ts";
import { hints } from "./deliver.ts";
import { type Call, ISSUE_TYPE, read, type Tracker } from "./trackers.ts";

const Somebody = z.object({ user: z.object({ id: z.int() }) });
const WithTypes = z.object({ issueTypes: z.array(z.object({ name: z.string() })) });

interface Question {
  readonly call: Call;
  /** The setting to name in the error, and the error text for a 404. */
  readonly field: string;
  readonly missing: string;
  readonly problemIn?: (answer: unknown) => FieldError | null;
}

function questionsFor(tracker: Tracker): Question[] {
  if (tracker.type === "ticketing_a") {
    const key = tracker.entry.project_key;
    return [
      { call: read(tracker, "/rest/api/2/myself"), field: "url", missing: "no such API at this URL" },
      {
        call: read(tracker, `/rest/api/2/project/${encodeURIComponent(key)}`),
        field: "project_key",
        missing: `there is no project ${key}, or the user may not see it`,
        // Some releases do not list the issue types.
        problemIn(answer) {
          const { data } = WithTypes.safeParse(answer);
          if (!data || data.issueTypes.some(({ name }) => name === ISSUE_TYPE)) return null;
          return {
            name: "project_key",
            reason: `project ${key} has no issue type ${ISSUE_TYPE}, which is the type of the tickets`,
          };
        },
      },
    ];
  }
  const id = tracker.entry.group_id;
  return [
    {
      call: read(tracker, "/api/v2/users/me.json"),
      field: "url",
      missing: "no such API at this URL",
      // Unauthenticated requests get a user without an id.
      problemIn: (answer) =>
        Somebody.safeParse(answer).success ? null : { name: "api_token", reason: "user and token are not accepted" },
    },
    {
      call: read(tracker, `/api/v2/groups/${id}.json`),
      field: "group_id",
      missing: `there is no group ${id}, or the user may not see it`,
    },
  ];
}

/** Returns why the tracker would refuse tickets, by field of its settings; empty if it would accept them. */
async function checkTicketing(
  services: Pick<Services, "running" | "dryRun">,
  tracker: Tracker,
  signal?: AbortSignal,
): Promise<FieldError[]> {
  for (const { call, field, missing, problemIn } of questionsFor(tracker)) {
    try {
      const reply = await fetchOutbound(services, call.url, {
        ...call.request,
        redirects: 0,
        ...(signal ? { signal } : {}),
      });
      if (reply.status === 401 || reply.status === 403)
        return [{ name: "api_token", reason: `the tracker answered ${reply.status}${hints[reply.status]}` }];
      if (reply.status === 404) return [{ name: field, reason: missing }];
      if (reply.status !== 200) return [{ name: "url", reason: `the tracker answered ${reply.status}` }];
      const answer = jsonOf(reply);
      if (typeof answer !== "object" || answer === null) return [{ name: "url", reason: "no such API at this URL" }];
      const problem = problemIn?.(answer);
      if (problem) return [problem];
    } catch (error) {
      if (error instanceof OutboundError) return [{ name: "url", reason: error.message }];
      throw error;
    }
  }
  return [];
}

/** Timeout (ms) for all checks of one change. */
const TIMEOUT_ALL = 30_000;
const MAX_CONCURRENT = 10;

/** Checks the entries of a change that are new or whose connection settings changed. */
export async function checkIntegrations(
  services: Pick<Services, "running" | "dryRun">,
  before: Integrations,
  after: Integrations,
): Promise<FieldError[]> {
  const changed = (["ticketing_a", "ticketing_b"] as const).flatMap((type) =>
    after[type]
      .map((entry, i) => ({ tracker: { type, entry } as Tracker, at: `integrations.${type}.${i}` }))
      .filter(({ tracker: { entry } }) => !before[type].some((old) => sameConnection(old, entry))),
  );
  const signal = AbortSignal.timeout(TIMEOUT_ALL);
  const errors: FieldError[] = [];
  for (let i = 0; i < changed.length; i += MAX_CONCURRENT) {
    const batch = await Promise.all(
      changed.slice(i, i + MAX_CONCURRENT).map(async ({ tracker, at }) => {
        const problems = await checkTicketing(services, tracker, signal);
        return problems.map(({ name, reason }) => ({ name: `${at}.${name}`, reason }));
      }),
    );
    errors.push(...batch.flat());
  }
  return errors;
}

/** Changed flags do not require another check. */
const sameConnection = (a: object, b: object): boolean => JSON.stringify(bare(a)) === JSON.stringify(bare(b));
const bare = (entry: object) => ({ ...entry, enable_failing_policies: null, enable_software_vulnerabilities: null });
