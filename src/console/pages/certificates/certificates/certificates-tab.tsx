import { lazy, type ReactElement, Suspense, useMemo, useState } from "react";
import { type CertificateTemplate, certificatesApi } from "../../../../api/certificates/certificates.ts";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { OneTeam, ofTeam, roleTeam } from "../../../parts/one-team.tsx";
import { Time } from "../../../parts/time.tsx";
import { may } from "../../../session.ts";

const TemplateDialogs = lazy(() => import("./template-dialogs.tsx"));

export type OpenTemplateDialog =
  | { readonly name: "add"; readonly teamId: number }
  | { readonly name: "delete"; readonly template: CertificateTemplate };

/** The certificates that the Android hosts of a team get. */
export default function CertificatesTab(): ReactElement {
  return (
    <OneTeam what="Certificates" action="certificates:read">
      {(teamId) => <Templates key={teamId} teamId={teamId} />}
    </OneTeam>
  );
}

function Templates({ teamId }: { readonly teamId: number }): ReactElement {
  const [dialog, setDialog] = useState<OpenTemplateDialog | null>(null);
  const mayWrite = may("certificates:write", roleTeam(teamId));
  const definition = useMemo(
    () => templatesOf(teamId, mayWrite ? (template) => setDialog({ name: "delete", template }) : null),
    [teamId, mayWrite],
  );
  return (
    <>
      {mayWrite && (
        <p className="buttons">
          <button type="button" aria-haspopup="dialog" onClick={() => setDialog({ name: "add", teamId })}>
            Add certificate
          </button>
        </p>
      )}
      <List definition={definition} />
      {dialog !== null && (
        <Suspense>
          <TemplateDialogs dialog={dialog} onClose={() => setDialog(null)} />
        </Suspense>
      )}
    </>
  );
}

const templatesOf = (
  teamId: number,
  onDelete: ((template: CertificateTemplate) => void) | null,
): ListDefinition<typeof certificatesApi.list, CertificateTemplate> => ({
  name: "Certificates",
  view: "certificates",
  thing: "certificate",
  endpoint: certificatesApi.list,
  query: ofTeam(teamId),
  hasTeams: false,
  hasSearch: false,
  rowsOf: ({ certificates }) => certificates,
  defaultOrder: { key: "name", direction: "asc" },
  keyOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: [
    { id: "name", name: "Name", order: "name", cell: ({ name }) => name },
    { id: "authority", name: "Authority", cell: ({ certificate_authority_name: name }) => name },
    { id: "subject", name: "Subject", cell: ({ subject_name }) => <code>{subject_name}</code> },
    {
      id: "alternative",
      name: "Alternative names",
      cell: ({ subject_alternative_name: names }) => names !== "" && <code>{names}</code>,
    },
    { id: "created", name: "Created", order: "created_at", cell: ({ created_at }) => <Time value={created_at} /> },
    {
      id: "actions",
      name: "Actions",
      cell: (template) =>
        onDelete !== null && (
          <button
            type="button"
            className="danger small"
            aria-haspopup="dialog"
            aria-label={`Delete ${template.name}`}
            onClick={() => onDelete(template)}
          >
            Delete
          </button>
        ),
    },
  ],
  command: "certificates list",
  flags: { team_id: "team" },
  empty: (
    <p>
      Android hosts get a certificate for each template here, from an authority with SCEP. Apple and Windows hosts get
      theirs by a profile. The certificates that a host has are on its page.
    </p>
  ),
});
