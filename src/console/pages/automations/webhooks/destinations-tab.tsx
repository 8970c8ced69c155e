import { lazy, type ReactElement, Suspense, useMemo, useState } from "react";
import { type Destination, webhooksApi } from "../../../../api/automations/webhooks.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { RowButtons } from "../../../parts/list/row-buttons.tsx";
import { Time } from "../../../parts/time.tsx";

const HeadersDialog = lazy(() => import("./headers-dialog.tsx"));
const SecretDialog = lazy(() => import("./secret-dialog.tsx"));

type Kind = "headers" | "secret";

/** The addresses that something was sent to. */
export function DestinationsTab(): ReactElement {
  const [open, setOpen] = useState<{ readonly kind: Kind; readonly destination: Destination } | null>(null);
  const definition = useMemo(() => destinationsOf((kind, destination) => setOpen({ kind, destination })), []);
  const close = () => setOpen(null);
  return (
    <>
      <List definition={definition} />
      <Suspense>
        {open?.kind === "headers" && <HeadersDialog destination={open.destination} onClose={close} />}
        {open?.kind === "secret" && <SecretDialog destination={open.destination} onClose={close} />}
      </Suspense>
    </>
  );
}

const destinationsOf = (
  onSelect: (kind: Kind, destination: Destination) => void,
): ListDefinition<typeof webhooksApi.destinations, Destination> => ({
  name: "Destinations",
  thing: "destination",
  endpoint: webhooksApi.destinations,
  hasTeams: false,
  hasSearch: false,
  rowsOf: ({ destinations }) => destinations,
  defaultOrder: { key: "url", direction: "asc" },
  keyOf: ({ url }) => url,
  nameOf: ({ url }) => url,
  columns: [
    { id: "url", name: "URL", order: "url", cell: ({ url }) => url },
    { id: "headers", name: "Headers", cell: ({ headers }) => Object.keys(headers).join(", ") },
    {
      id: "pending",
      name: "Pending",
      isNumber: true,
      cell: ({ url, pending }) => (
        <PageLink href="/settings/webhooks" query={{ tab: "deliveries", url, state: "pending" }}>
          {pending}
        </PageLink>
      ),
    },
    { id: "changed", name: "Changed", cell: ({ updated_at }) => <Time value={updated_at} /> },
    {
      id: "action",
      name: "Action",
      cell: (destination) => (
        <RowButtons
          name={destination.url}
          buttons={[
            { kind: "headers", label: "Headers" },
            { kind: "secret", label: "New signing secret" },
          ]}
          onSelect={(kind) => onSelect(kind, destination)}
        />
      ),
    },
  ],
  command: "webhooks destinations list",
  empty: <p>Nothing was sent yet: addresses are listed here from the first delivery on.</p>,
});
