// Enroll secrets, of all hosts or of a team.
import { z } from "zod";
import { thing } from "../desired/values.ts";
import { fieldsOf } from "../export/fields.ts";
import type { Value } from "../files/overlay.ts";
import { readSpec } from "../files/spec.ts";
import { isOfTeam } from "../plan/activities.ts";
import type { Owner, Thing } from "../plan/diff.ts";
import { EnrollSecrets } from "../schema/settings.ts";
import type { Kind } from "./kind.ts";

const SecretSpec = z.strictObject({ secrets: EnrollSecrets });

/** Enroll secrets, which keep their values if the key is absent. */
function secretsIn(owner: Owner, settings: Value | null | undefined): Thing[] {
  const secrets = settings?.secrets;
  if (!Array.isArray(secrets)) return [];
  return [thing("enroll_secrets", owner, { secrets: secrets.map(({ secret }) => secret) })];
}

export const enrollSecrets: Kind = {
  noun: "enroll secrets",
  exception: "secrets",
  ofNewTeam: { secrets: [] },
  unordered: "secrets",
  document: {
    kind: "enroll_secret",
    read(spec, reading) {
      const read = readSpec(SecretSpec, spec, "spec", reading);
      return read && { ...read, name: null };
    },
  },
  desired: ({ scopes }) =>
    scopes
      .filter(({ kind }) => kind !== "no_team")
      .flatMap(({ owner, values: { settings } }) => secretsIn(owner, settings)),
  ofDocuments: ({ ofOrganization, ofTeams }) =>
    [...ofOrganization, ...ofTeams].flatMap(({ name, settings }) => secretsIn(name, settings)),
  // If left out they are kept, so they are always written.
  exported({ owner, objects }) {
    const { secrets } = fieldsOf(objects.singleValue(owner, "enroll_secrets"));
    return Array.isArray(secrets) ? { settings: { secrets: secrets.map((secret) => ({ secret })) } } : {};
  },
  typesOf: () => ["edited_enroll_secrets"],
  isAbout: (details, _, { owner }) => isOfTeam(details, owner),
};
