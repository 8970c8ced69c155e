// What plans and drift know about each kind of configuration.

import { isSingle } from "../api/ca.ts";
import type { ThingKind } from "../api/configuration.ts";
import { isRecord } from "../text/record.ts";
import { anyOf, changedPaths, coversPath, type Details, isOfTeam, namesItem, settingTypes } from "./plan/activities.ts";
import type { Change, Json } from "./plan/diff.ts";
import { compareTexts } from "./plan/values.ts";

export interface Kind {
  /** What plans call it. */
  readonly noun: string;
  /** The value of a new team, for kinds whose first value does not depend on the organization. */
  readonly ofNewTeam?: Json;
  /** The list in the value whose order has no meaning. */
  readonly unordered?: string;
  /** The types of activities that can explain a change. */
  typesOf(change: Change): readonly string[];
  /** Whether an activity of one of these types is about the changed object and fields. */
  isAbout(details: Details, type: string, change: Change): boolean;
}

/** Whether the webhook covers a policy is stored in the settings of its team. */
const WEBHOOK_OF_POLICIES = "webhook_settings.failing_policies_webhook.policy_ids";

export const kinds: Readonly<Record<ThingKind, Kind>> = {
  config: {
    noun: "settings",
    typesOf: ({ name }) => ["edited_config", ...settingTypes(name)],
    isAbout: (details, type, { name, fields }) => {
      const paths = fields.map(({ path }) => (path === "" ? name : `${name}.${path}`));
      return isOfTeam(details, null) && coversPath(details, type, paths);
    },
  },
  certificate_authority: {
    noun: "certificate authority",
    typesOf: ({ name }) => anyOf(name.split("/")[0]!).map((type) => type.replace("created_", "added_")),
    isAbout: (details, _, { name }) => {
      const [type, own] = name.split("/") as [Parameters<typeof isSingle>[0], string];
      return isSingle(type) || details.name === own;
    },
  },
  label: {
    noun: "label",
    typesOf: () => [...anyOf("label"), "edited_host_labels"],
    isAbout: (details, type, { name, fields }) =>
      type === "edited_host_labels"
        ? fields.some(({ path }) => path === "hosts") &&
          [details.added, details.removed].some((names) => Array.isArray(names) && names.includes(name))
        : details.label_name === name,
  },
  team: {
    noun: "team",
    typesOf: () => anyOf("team"),
    isAbout: (details, type, { name }) =>
      details.team_name === name && (type !== "edited_team" || changedPaths(details).includes("description")),
  },
  agent_options: {
    noun: "agent options",
    ofNewTeam: null,
    typesOf: () => ["edited_agent_options"],
    isAbout: (details, _, { owner }) => isOfTeam(details, owner),
  },
  team_settings: {
    noun: "team settings",
    typesOf: () => ["edited_team", ...["mdm", "integrations"].flatMap(settingTypes)],
    isAbout: (details, type, { owner, fields }) => {
      const paths = fields.map(({ path }) => path);
      return isOfTeam(details, owner) && coversPath(details, type, paths);
    },
  },
  enroll_secrets: {
    noun: "enroll secrets",
    ofNewTeam: { secrets: [] },
    unordered: "secrets",
    typesOf: () => ["edited_enroll_secrets"],
    isAbout: (details, _, { owner }) => isOfTeam(details, owner),
  },
  policy: {
    noun: "policy",
    typesOf: () => [...anyOf("policy"), "applied_spec_policy", "edited_config", "edited_team"],
    isAbout: (details, type, { name, owner, fields }) => {
      if (type === "edited_config" || type === "edited_team")
        return (
          (type === "edited_team" ? details.team_name === owner : owner === null) &&
          fields.some(({ path }) => path === "webhooks_and_tickets_enabled") &&
          coversPath(details, type, [WEBHOOK_OF_POLICIES])
        );
      if (type === "applied_spec_policy") return namesItem(details.policies, name, owner);
      return details.policy_name === name && isOfTeam(details, owner);
    },
  },
  query: {
    noun: "query",
    typesOf: () => [...anyOf("saved_query"), "applied_spec_saved_query"],
    isAbout: (details, type, { name, owner }) =>
      type === "applied_spec_saved_query"
        ? namesItem(details.specs, name, owner)
        : details.query_name === name && isOfTeam(details, owner),
  },
};

const isOfNewTeam = (entry: [string, Kind]): entry is [ThingKind, Kind & { readonly ofNewTeam: Json }] =>
  entry[1].ofNewTeam !== undefined;

/** What a new team has before the files are applied. Its settings exist too, but depend on the organization's. */
export const ofNewTeam = Object.entries(kinds)
  .filter(isOfNewTeam)
  .map(([kind, { ofNewTeam: value }]) => ({ kind, value }));

/** The value with its lists in one order where their order has no meaning. */
export function inAnyOrder(kind: ThingKind, value: Json): Json {
  const { unordered } = kinds[kind];
  if (unordered === undefined || !isRecord(value)) return value;
  const list = value[unordered];
  if (!Array.isArray(list)) return value;
  const texts = new Map(list.map((one): [Json, string] => [one, JSON.stringify(one)]));
  return { ...value, [unordered]: list.toSorted((a, b) => compareTexts(texts.get(a)!, texts.get(b)!)) };
}
