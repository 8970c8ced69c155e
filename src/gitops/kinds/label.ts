// Labels.
import { z } from "zod";
import { compareHosts } from "../../api/edge/configuration.ts";
import { labelFields } from "../../api/hosts/label.ts";
import { CUSTOM_VITAL, type LabelCriteria, labelVitals } from "../../api/hosts/labels.ts";
import { fallbacksOf } from "../../api/plain-fields.ts";
import type { Json } from "../../text/differences.ts";
import { isRecord } from "../../text/record.ts";
import type { Current } from "../desired/current.ts";
import type { PlacedItem } from "../files/collect.ts";
import type { Place, Problems } from "../files/problems.ts";
import { anyOf } from "../plan/activities.ts";
import type { Thing } from "../plan/diff.ts";
import { choice, name, plainFields, text } from "../schema/fields.ts";
import type { Kind } from "./kind.ts";

const Criteria = z
  .strictObject({
    vital: z.enum([...labelVitals, CUSTOM_VITAL]).nullish(),
    custom_host_vital_id: z
      .int()
      .positive()
      .nullish()
      .meta({ description: `with the vital ${CUSTOM_VITAL}` }),
    value: z.string().max(255).nullish(),
    where: z.string().max(4096).nullish().meta({ description: "a host selector, instead of vital and value" }),
  })
  .transform(({ vital, custom_host_vital_id: id, value, where }, context): LabelCriteria => {
    const text = (value ?? "").trim();
    const expression = (where ?? "").trim();
    if ((vital === CUSTOM_VITAL) !== Boolean(id)) {
      const message = `custom_host_vital_id is required with the vital ${CUSTOM_VITAL}, and only with it`;
      context.issues.push({ code: "custom", input: id, message });
      return z.NEVER;
    }
    if (vital === CUSTOM_VITAL && text !== "" && expression === "")
      return { vital, custom_host_vital_id: id!, value: text };
    if (vital && vital !== CUSTOM_VITAL && text !== "" && expression === "") return { vital, value: text };
    if (!vital && text === "" && expression !== "") return { where: expression };
    context.issues.push({ code: "custom", input: value, message: "give vital and value, or where" });
    return z.NEVER;
  });

export const LabelFile = z
  .strictObject({
    name,
    ...plainFields(labelFields),
    platform: text(64).transform((input) => input.trim()),
    label_membership_type: choice(["dynamic", "manual", "host_vitals"], "dynamic"),
    query: text(100_000),
    hosts: z
      .array(z.union([z.string().max(255), z.int().positive()], { error: "expected a host: an id, serial or uuid" }))
      .max(200_000)
      .nullable()
      .optional(),
    criteria: Criteria.nullish().transform((input) => input ?? null),
  })
  .superRefine((label, context) => {
    const wrong = (key: string, message: string) => context.addIssue({ code: "custom", path: [key], message });
    const type = label.label_membership_type;
    if (type === "dynamic" && label.query.trim() === "") wrong("query", "a dynamic label needs a query");
    if (type !== "dynamic" && label.query !== "") wrong("query", "only a dynamic label has a query");
    if (type !== "dynamic" && label.platform !== "") wrong("platform", "only a dynamic label has a platform");
    if (type !== "manual" && label.hosts && label.hosts.length > 0) wrong("hosts", "only a manual label has hosts");
    if (type === "host_vitals" && !label.criteria) wrong("criteria", "a host_vitals label needs criteria");
    if (type !== "host_vitals" && label.criteria) wrong("criteria", "only a host_vitals label has criteria");
  });
export type LabelFile = z.output<typeof LabelFile>;

function desired(labels: readonly PlacedItem<LabelFile>[], current: Current, problems: Problems): Thing[] {
  const hostsByText = new Map<string | number, (string | number)[]>();
  for (const { given: text, host } of current.state.hosts)
    if (host !== null) hostsByText.set(text, [...(hostsByText.get(text) ?? []), host]);
  const reportUnknown = (at: Place, reason: string) =>
    current.allowsUnknownHosts
      ? problems.warn(at, reason)
      : problems.error(at, `${reason}. Correct it, or give --allow-unknown-hosts`);
  return labels.map(({ value: { name, hosts, ...value }, place }) => {
    const named = (listed: readonly (string | number)[]) =>
      listed.flatMap((hostKey, i) => {
        // A number may be a serial number or an id.
        const those = [...new Set([...(hostsByText.get(String(hostKey)) ?? []), ...(hostsByText.get(hostKey) ?? [])])];
        const at = place("hosts", String(i));
        if (those.length === 0) reportUnknown(at, `label ${JSON.stringify(name)}: there is no host ${hostKey}`);
        if (those.length > 1)
          problems.error(
            at,
            `label ${JSON.stringify(name)}: ${those.length} hosts are called ${hostKey}. Use the name or id of one of them: ${those.slice(0, 5).join(", ")}`,
          );
        return those;
      });
    checkVital(value.criteria, current, (reason) =>
      problems.warn(place("criteria"), `label ${JSON.stringify(name)}: ${reason}`),
    );
    const before = current.value("label", null, name);
    const kept = isRecord(before) ? before.hosts : null;
    const members = hosts === undefined ? (kept ?? []) : [...new Set(named(hosts ?? []))].sort(compareHosts);
    const isManual = value.label_membership_type === "manual";
    const { criteria, ...rest } = value;
    return {
      kind: "label",
      owner: null,
      name,
      value: { ...rest, criteria: criteria as Json, hosts: isManual ? members : null },
    };
  });
}

/**
 * The server refuses a vital that it does not have when the apply writes the label; the same apply may add it. Older
 * servers do not list theirs.
 */
function checkVital(criteria: LabelCriteria | null, { state }: Current, warn: (reason: string) => void): void {
  const id = criteria !== null && "custom_host_vital_id" in criteria ? criteria.custom_host_vital_id : null;
  if (id === null || (state.custom_host_vitals ?? [id]).includes(id)) return;
  warn(
    `there is no custom host vital with the id ${id}, so the apply fails unless it adds that: see \`svc vitals list\``,
  );
}

export const label: Kind<LabelFile> = {
  noun: "label",
  exception: "labels",
  items: {
    list: "labels",
    inPacks: "discovery",
    notIn: {
      team: {
        as: "error",
        message: "this server does not support labels of teams yet: define them in the global file",
      },
      no_team: { as: "warn", message: "labels are ignored in the file of hosts without a team" },
    },
    hosts: ({ hosts }) => (hosts ?? []).flatMap((host) => (typeof host === "number" ? [String(host), host] : [host])),
    schema: LabelFile,
    sql: ({ query }) => ({ query }),
    labelFields: [],
    ignoredInDocuments: ["id", "label_type"],
    defaults: {
      ...fallbacksOf(labelFields),
      platform: "",
      label_membership_type: "dynamic",
      query: "",
      criteria: null,
      hosts: null,
    },
    desired,
  },
  renamed: {
    by: ({ query, platform }) => [query, platform],
    lost: "the new one is empty until hosts have answered",
    command: "svc labels update",
  },
  typesOf: () => [...anyOf("label"), "edited_host_labels"],
  isAbout: (details, type, { name, fields }) =>
    type === "edited_host_labels"
      ? fields.some(({ path }) => path === "hosts") &&
        [details.added, details.removed].some((names) => Array.isArray(names) && names.includes(name))
      : details.label_name === name,
};
