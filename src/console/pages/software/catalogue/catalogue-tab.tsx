import { lazy, type ReactElement, Suspense, useMemo, useState } from "react";
import { type CatalogueApp, catalogueApi } from "../../../../api/software/catalogue.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { platformName } from "../../../parts/platforms.ts";
import { maySomewhere } from "../../../session.ts";
import { useTeamId } from "../../../url.ts";

const AddSoftwareDialog = lazy(() => import("../packages/add-software-dialog.tsx"));

/** The apps whose newest installers and scripts the server knows, and which of them the team offers. */
export function CatalogueTab(): ReactElement {
  const teamId = useTeamId();
  const [adding, setAdding] = useState<CatalogueApp | null>(null);
  const definition = useMemo(() => listOf(teamId, setAdding), [teamId]);
  return (
    <>
      <List definition={definition} />
      {adding !== null && (
        <Suspense>
          <AddSoftwareDialog app={adding} onClose={() => setAdding(null)} />
        </Suspense>
      )}
    </>
  );
}

const platforms = ["darwin", "windows"].map((value) => ({ value, label: platformName(value) }));

/** Without a team, nothing is known about what it offers. */
function listOf(
  teamId: number | null,
  onAdd: (app: CatalogueApp) => void,
): ListDefinition<typeof catalogueApi.list, CatalogueApp> {
  const mayAdd = maySomewhere("packages:write");
  return {
    name: "Catalogue",
    thing: "app",
    endpoint: catalogueApi.list,
    rowsOf: ({ svc_maintained_apps }) => svc_maintained_apps,
    countOf: ({ count }) => count,
    defaultOrder: { key: "name", direction: "asc" },
    keyOf: ({ id }) => id,
    nameOf: ({ name }) => name,
    columns: [
      { id: "name", name: "Name", order: "name", cell: ({ name }) => name },
      { id: "platform", name: "Platform", cell: ({ platform }) => platformName(platform) },
      { id: "version", name: "Newest version", cell: ({ version }) => version },
      ...(teamId === null
        ? []
        : [
            {
              id: "added",
              name: "Added",
              cell: ({ name, software_title_id }: CatalogueApp) =>
                software_title_id === null ? (
                  "no"
                ) : (
                  <PageLink href={`/software/titles/${software_title_id}`} aria-label={`${name}: added`}>
                    yes
                  </PageLink>
                ),
            },
          ]),
      ...(mayAdd
        ? [
            {
              id: "action",
              name: "Action",
              cell: (app: CatalogueApp) =>
                app.software_title_id === null && (
                  <button
                    type="button"
                    className="plain small"
                    aria-label={`Add ${app.name} for ${platformName(app.platform)}`}
                    onClick={() => onAdd(app)}
                  >
                    Add
                  </button>
                ),
            },
          ]
        : []),
    ],
    filters: [
      { name: "platform", label: "Platform", options: platforms },
      ...(teamId === null
        ? []
        : [{ name: "available", label: "Not added yet", options: [{ value: "true", label: "yes" }] }]),
    ],
    command: "software catalogue list",
    flags: { team_id: "team" },
    empty: (
      <p>
        The server has read no catalogue yet. The setting <code>catalogue_url</code> says where it is, and{" "}
        <code>svc jobs run catalogue</code> reads it now.
      </p>
    ),
  };
}
