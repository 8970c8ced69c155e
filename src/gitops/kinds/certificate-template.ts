// Certificate templates of Android hosts.

import { parseAlternativeNames, writeAlternativeNames } from "../../pki/alternative-names.ts";
import { BadName } from "../../pki/names.ts";
import { thing } from "../desired/values.ts";
import { fieldsOf } from "../export/fields.ts";
import type { FileScope } from "../files/read.ts";
import { placeOf } from "../files/tree.ts";
import { anyOf, isOfTeam } from "../plan/activities.ts";
import type { Owner } from "../plan/diff.ts";
import type { CertificateFile } from "../schema/certificates.ts";
import type { Kind } from "./kind.ts";

const KIND = "certificate_template";

interface Controls {
  readonly android_settings?: { readonly certificates?: readonly CertificateFile[] | null } | null;
}

function spelledNames(text: string): string {
  try {
    return writeAlternativeNames(parseAlternativeNames(text));
  } catch (error) {
    if (error instanceof BadName) return text;
    throw error;
  }
}

const templatesIn = ({ values: { controls } }: FileScope): readonly CertificateFile[] =>
  (controls as Controls | null | undefined)?.android_settings?.certificates ?? [];

/** Controls of hosts without a team are settings of the organization. */
const ownerOf = ({ kind, owner }: FileScope): Owner => (kind === "team" ? owner : null);

export const certificateTemplate: Kind = {
  noun: "certificate template",
  check(scope, problems) {
    const tree = scope.sections.controls?.tree;
    const seen = new Set<string>();
    for (const [i, { name }] of templatesIn(scope).entries()) {
      if (seen.has(name) && tree)
        problems.error(
          placeOf(tree, ["android_settings", "certificates", String(i), "name"]),
          `the certificate template ${name} is given twice`,
        );
      seen.add(name);
    }
  },
  desired: ({ scopes }) =>
    scopes.flatMap((scope) =>
      templatesIn(scope).map(
        ({ name, certificate_authority_name, subject_name, subject_alternative_name: alternatives }) => {
          // The server's spelling, so that another spelling is no change.
          const others = spelledNames(alternatives ?? "");
          const value = {
            certificate_authority_name,
            subject_name,
            ...(others === "" ? {} : { subject_alternative_name: others }),
          };
          return thing(KIND, ownerOf(scope), value, name);
        },
      ),
    ),
  // The one file that could define the controls of hosts without a team may have been skipped.
  isComplete: ({ owner }, { owners, hasAllControls }) => owners.has(owner) && (owner !== null || hasAllControls),
  exported({ file, owner, objects }) {
    const templates = file === "no_team" ? [] : objects.all(owner, KIND);
    if (templates.length === 0) return {};
    const certificates = templates.map(({ name, value }) => ({ name, ...fieldsOf(value) }));
    return { controls: { android_settings: { certificates } } };
  },
  typesOf: () => anyOf(KIND),
  isAbout: (details, _, { name, owner }) => isOfTeam(details, owner) && details.certificate_name === name,
};
