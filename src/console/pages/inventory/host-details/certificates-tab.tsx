import { type ReactElement, useMemo } from "react";
import type { Host } from "../../../../api/hosts/host.ts";
import { type HostCertificate, hostDetailsApi } from "../../../../api/inventory/host-details.ts";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { Time } from "../../../parts/time.tsx";

export function CertificatesTab({ host }: { readonly host: Host }): ReactElement {
  const { id, display_name } = host;
  const definition = useMemo(() => certificatesOf(id, display_name), [id, display_name]);
  return <List definition={definition} />;
}

const certificatesOf = (
  id: number,
  display_name: string,
): ListDefinition<typeof hostDetailsApi.certificates, HostCertificate> => ({
  name: "Certificates",
  thing: "certificate",
  endpoint: hostDetailsApi.certificates,
  params: { id },
  hasTeams: false,
  hasSearch: false,
  rowsOf: ({ certificates }) => certificates,
  defaultOrder: { key: "common_name", direction: "asc" },
  keyOf: (certificate) => certificate.id,
  nameOf: ({ common_name }) => common_name,
  columns: [
    { id: "name", name: "Name", order: "common_name", cell: ({ common_name }) => common_name },
    { id: "issuer", name: "Issuer", cell: ({ issuer }) => issuer.common_name },
    { id: "end", name: "Valid until", order: "not_valid_after", cell: (row) => <Time value={row.not_valid_after} /> },
    { id: "source", name: "Store", cell: ({ source, username }) => (source === "user" ? `user ${username}` : source) },
    { id: "algorithm", name: "Key", cell: ({ key_algorithm, key_strength }) => `${key_algorithm} ${key_strength}` },
  ],
  command: `certificates list --host ${display_name}`,
  empty: <p>This host has reported no certificates.</p>,
});
