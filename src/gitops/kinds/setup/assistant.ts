// Setup assistant profiles: what devices show that enroll automatically.

import { basename } from "node:path";
import { NO_TEAM_NAME } from "../../../api/settings/no-team.ts";
import { notJson } from "../../../text/json.ts";
import { isRecord } from "../../../text/record.ts";
import { thing } from "../../desired/values.ts";
import type { Masks } from "../../environment/masks.ts";
import { fieldsOf } from "../../export/fields.ts";
import { safeName } from "../../export/names.ts";
import { escaped } from "../../export/text.ts";
import { readSource, shownAs } from "../../files/include.ts";
import { substitute, type UsedVariable } from "../../files/substitute.ts";
import { isOfTeam } from "../../plan/activities.ts";
import type { Kind } from "../kind.ts";

const KIND = "setup_assistant";

export const setupAssistant: Kind = {
  noun: "setup assistant profile",
  file: {
    section: "controls",
    keys: [
      ["setup_experience", "macos_setup"],
      ["vendora_setup_assistant", "macos_setup_assistant"],
    ],
    extensions: [".json"],
    async read(path, named, sources) {
      const source = await readSource(path, named, sources);
      if (source === null) return null;
      const { environment, problems } = sources;
      const { text, used } = substitute(source, shownAs(path, sources), environment, problems);
      const profile = parsed(text);
      if (used.length > 0) hideReplaced(profile, source, used, environment.masks);
      if (!isRecord(profile)) throw new Error("must be a JSON object");
      return { name: basename(path), enrollment_profile: profile };
    },
  },
  desired: ({ scopes }) =>
    scopes.flatMap(({ named, owner }) => {
      const file = named[KIND];
      // Controls of hosts without a team are settings of the organization.
      const whose = owner === NO_TEAM_NAME ? null : owner;
      if (!file) return [];
      const { name, ...value } = file.value;
      return [thing(KIND, whose, value, String(name))];
    }),
  // The one file that could define the controls of hosts without a team may have been skipped.
  isComplete: ({ owner }, { owners, hasAllControls }) => owners.has(owner) && (owner !== null || hasAllControls),
  exported({ file, owner, stem, objects, addFile }) {
    const [profile] = file === "no_team" ? [] : objects.all(owner, KIND);
    if (!profile) return {};
    const path = `lib/${stem === "" ? "" : `${stem}.`}setup/${safeName(profile.name, ".json")}`;
    addFile(path, escaped(`${JSON.stringify(fieldsOf(profile.value).enrollment_profile, null, 2)}\n`));
    return { controls: { macos_setup: { macos_setup_assistant: `${owner === null ? "" : "../"}${path}` } } };
  },
  typesOf: () => ["changed_macos_setup_assistant", "deleted_macos_setup_assistant"],
  isAbout: (details, _, { name, owner }) => isOfTeam(details, owner) && details.name === name,
};

/** Texts and numbers that variables have a part in, also where JSON reads their values as other characters. */
function hideReplaced(profile: unknown, source: string, variables: readonly UsedVariable[], masks: Masks): void {
  const literal = new Set(textsIn(parsedOrNull(source)).map((text) => text.replace(/\$\{(\w+)\}/g, "$$$1")));
  const names = [...new Set(variables.map(({ name }) => name))];
  for (const text of textsIn(profile)) if (!literal.has(masks.hide(text))) masks.add(names, text);
}

const textsIn = (value: unknown): string[] =>
  typeof value === "object" && value !== null
    ? [...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(textsIn)]
    : [String(value)];

function parsedOrNull(text: string): unknown {
  try {
    return parsed(text);
  } catch {
    return null;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new Error(notJson(error));
  }
}
