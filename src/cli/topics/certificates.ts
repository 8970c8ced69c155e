// Shared by the commands for certificate templates.

import {
  type CertificateTemplate,
  certificatesApi,
  CertificateTemplate as Template,
} from "../../api/certificates/certificates.ts";
import type { ClientCommand } from "../client-command.ts";
import { notFound } from "../errors.ts";
import type { View } from "../output/output.ts";

export const templateView: View = {
  schema: () => Template,
  columns: [
    { key: "id" },
    { key: "name" },
    { key: "certificate_authority_name", header: "authority" },
    { key: "subject_name", header: "subject" },
  ],
};

/** The templates of a team; without a team, those of hosts without a team. */
async function templatesOf(command: ClientCommand, team: string | undefined): Promise<readonly CertificateTemplate[]> {
  const query = await command.teamFilter(team);
  return (await command.call(certificatesApi.list, { query })).certificates;
}

/** Finds a template by id in any team, or by name within the given team. */
export async function findTemplate(
  command: ClientCommand,
  text: string,
  team: string | undefined,
): Promise<{ id: number; name: string }> {
  const named = (await templatesOf(command, team)).find(({ name }) => name === text.normalize("NFC").trim());
  if (named) return named;
  if (/^[1-9]\d{0,14}$/.test(text)) {
    const { certificate } = await command.call(certificatesApi.get, { params: { id: text } });
    return certificate;
  }
  throw notFound(
    `there is no certificate template ${text}${team === undefined ? " for hosts without a team" : " of that team"}`,
    "`svc certificates list` shows them; a team's need --team.",
  );
}
