import { type ActivityFilters, SEARCHED_MAX } from "../../../api/platform/activities.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest } from "../../platform/core/errors.ts";
import { and, eq, everything, gt, has, lt, oneOf, type Predicate, search } from "../../platform/store/query.ts";

/** Maximum number of types in one request. */
const TYPES_MAX = 200;

/** The filters of the feed, shared by lists, exports and streams. */
export function activitiesWhere(query: ActivityFilters): Predicate {
  const start = instant("start_created_at", query.start_created_at);
  const end = instant("end_created_at", query.end_created_at);
  return and(
    query.query ? search(["actor_full_name", "actor_email"], query.query) : everything,
    typesWhere(query.activity_type),
    query.actor_id === undefined ? everything : eq("actor_id", query.actor_id),
    query.host_id === undefined ? everything : eq("host_id", query.host_id),
    query.team_id === undefined ? everything : has("team_ids", query.team_id),
    query.details ? search(["details_text"], query.details) : everything,
    start === null ? everything : gt("created_at", start),
    end === null ? everything : lt("created_at", end),
  );
}

/** Limits a search in the details to the newest entries that the request can concern. */
export async function searchedPart(
  { store }: Pick<Context, "store">,
  { details, end_created_at }: Pick<ActivityFilters, "details" | "end_created_at">,
): Promise<Predicate> {
  if (!details) return everything;
  const end = instant("end_created_at", end_created_at);
  const [newest] = await store.activities.pick(["id"], {
    ...(end === null ? {} : { where: lt("created_at", end) }),
    order: [{ column: end === null ? "id" : "created_at", direction: "desc" }],
    limit: 1,
  });
  return newest === undefined ? everything : gt("id", newest.id - SEARCHED_MAX);
}

function typesWhere(names: string | undefined): Predicate {
  const types = (names ?? "")
    .split(",")
    .map((type) => type.trim())
    .filter(Boolean);
  if (types.length > TYPES_MAX) throw badRequest(`Invalid activity_type: more than ${TYPES_MAX}`, "activity_type");
  if (types.length === 0) return everything;
  return types.length === 1 ? eq("type", types[0]!) : oneOf("type", types);
}

const ISO = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/i;

/** Parses a date or a date and time; UTC if it has no offset. */
function instant(name: string, input: string | undefined): string | null {
  if (input === undefined || input === "") return null;
  // An unencoded plus sign is decoded as a space.
  const text = input
    .trim()
    .replace(/ (\d\d:?\d\d)$/, (match, offset: string) => (/T\d\d:\d\d/i.test(input) ? `+${offset}` : match));
  const zoned = /T| \d/i.test(text) && !/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? `${text}Z` : text;
  const at = ISO.test(text) ? Date.parse(zoned.replace(" ", "T")) : Number.NaN;
  if (Number.isNaN(at))
    throw badRequest(`Invalid ${name}: ${input}: use a date (2026-01-31) or a time (2026-01-31T22:00:00Z)`, name);
  return new Date(at).toISOString();
}
