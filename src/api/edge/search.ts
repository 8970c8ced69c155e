import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Id, QueryInt, QueryTeam } from "../fields.ts";

/** What can be searched for, the most useful first. */
export const searchTypes = [
  "hosts",
  "users",
  "policies",
  "software",
  "labels",
  "cves",
  "queries",
  "scripts",
  "profiles",
  "teams",
] as const;
export type SearchType = (typeof searchTypes)[number];

const MIN_TEXT = 2;
const MAX_TEXT = 255;
const MAX_PER_TYPE = 20;
const DEFAULT_PER_TYPE = 5;

const isType = (word: string): word is SearchType => (searchTypes as readonly string[]).includes(word);

const Types = z
  .string()
  .max(255)
  .transform((text, context): readonly SearchType[] => {
    const words = text
      .split(",")
      .map((word) => word.trim())
      .filter(Boolean);
    const unknown = words.find((word) => !isType(word));
    if (unknown !== undefined)
      context.issues.push({
        code: "custom",
        message: `Invalid types: ${unknown} (types: ${searchTypes.join(", ")})`,
        input: text,
      });
    return words.filter(isType);
  })
  .meta({ type: "string", description: `comma list of ${searchTypes.join(", ")}; default: all that you may list` });

export const SearchQuery = z.object({
  query: z
    .string()
    .max(MAX_TEXT)
    .transform((text, context) => {
      const trimmed = text.trim().normalize("NFC");
      if (trimmed.length < MIN_TEXT)
        context.issues.push({ code: "custom", message: `must have at least ${MIN_TEXT} characters`, input: text });
      return trimmed;
    })
    .meta({ type: "string", minLength: MIN_TEXT, maxLength: MAX_TEXT, description: "part of a name or identifier" }),
  types: Types.optional(),
  team_id: QueryTeam.optional(),
  per_type: QueryInt.refine((count) => count >= 1 && count <= MAX_PER_TYPE, {
    error: `invalid per_type value: it is from 1 to ${MAX_PER_TYPE}`,
  })
    .default(DEFAULT_PER_TYPE)
    .meta({
      type: "integer",
      minimum: 1,
      maximum: MAX_PER_TYPE,
      default: DEFAULT_PER_TYPE,
      description: "most results of each type",
    }),
});
export type SearchQuery = z.output<typeof SearchQuery>;

export const SearchResult = z.object({
  type: z.enum(searchTypes),
  id: z.union([Id, z.string()]).meta({ description: "uuid of profiles, CVE of cves, id of the others" }),
  name: z.string(),
  detail: z.string().meta({ description: "what tells it from others with this name; may be empty" }),
  team_id: Id.nullable().meta({ description: "null: no team, or all teams" }),
  team_name: z.string().nullable(),
  match: z.object({ field: z.string(), text: z.string() }).meta({ description: "the field in which the text stands" }),
});
export type SearchResult = z.infer<typeof SearchResult>;

export const searchApi = {
  search: endpoint({
    method: "GET",
    path: "/search",
    summary: "Search for hosts, users, policies, software and others by name.",
    access: "user",
    query: SearchQuery,
    response: z.object({ results: z.array(SearchResult) }),
  }),
};
