// Saved scripts, which managed agents run.

import { basename } from "node:path";
import { SCRIPT_MAX } from "../../api/delivery/scripts.ts";
import { NO_TEAM_NAME } from "../../api/settings/no-team.ts";
import { FileNames } from "../export/names.ts";
import type { ExportedSections, ExportScope } from "../export/scope.ts";
import type { PlacedItem } from "../files/collect.ts";
import { isOfTeam } from "../plan/activities.ts";
import type { Thing } from "../plan/diff.ts";
import { ScriptFile } from "../schema/scripts.ts";
import type { Kind } from "./kind.ts";

const KIND = "script";

type Script = ScriptFile & { readonly name: string; readonly sha256: string };

const desired = (scripts: readonly PlacedItem<Script>[]): Thing[] =>
  scripts.map(({ value: { name, sha256 }, owner }) => ({
    kind: KIND,
    // Controls of hosts without a team are settings of the organization.
    owner: owner === NO_TEAM_NAME ? null : owner,
    name,
    value: { sha256 },
  }));

async function nameOf(path: string, content: Buffer, listedName: string | null): Promise<string> {
  if (content.length > SCRIPT_MAX) throw new Error(`the script is larger than ${SCRIPT_MAX} bytes`);
  return listedName ?? basename(path);
}

function exported({ owner, stem, objects, addHostFile }: ExportScope): ExportedSections {
  const names = new FileNames();
  const scripts = objects.all(owner, KIND).map(({ name, value }) => {
    const [, base = name, extension = ""] = /^(.*)(\.[A-Za-z0-9]+)$/.exec(name) ?? [];
    const file = `${names.of(base)}${extension}`;
    const path = `${stem === "" ? "" : `${stem}.`}scripts/${file}`;
    const { sha256 } = value as { sha256: string };
    addHostFile(`lib/${path}`, Buffer.from(objects.content(sha256)).toString());
    return { path: `${owner === null ? "lib" : "../lib"}/${path}`, ...(file === name ? {} : { display_name: name }) };
  });
  return scripts.length === 0 ? {} : { controls: { scripts } };
}

export const script: Kind<Script> = {
  noun: "script",
  items: {
    list: "scripts",
    files: [
      {
        section: "controls",
        keys: [["scripts", "scripts"]],
        extensions: [".sh", ".py", ".ps1"],
        isVerbatim: true,
        adds: {},
        nameOf,
      },
    ],
    schema: ScriptFile,
    labelFields: [],
    defaults: {},
    desired,
  },
  // The one file that could define the controls of hosts without a team may have been skipped.
  isComplete: ({ owner }, { owners, hasAllControls }) => owners.has(owner) && (owner !== null || hasAllControls),
  exported: (scope) => (scope.file === "no_team" ? {} : exported(scope)),
  typesOf: () => ["added_script", "updated_script", "deleted_script", "edited_script"],
  isAbout: (details, type, { name, owner }) =>
    isOfTeam(details, owner) && (type === "edited_script" || details.script_name === name),
};
