import { type ReactElement, useState } from "react";
import { type View, viewsApi } from "../../../api/settings/views.ts";
import { client, request, useOutdate, useRead } from "../../api.ts";
import { notifyDone, notifyFailed } from "../../frame/notices.tsx";
import { PageLink } from "../../frame/page-link.tsx";
import { isPremium, may, useSession } from "../../session.ts";
import { useTeamId, useUrl } from "../../url.ts";
import { useAction } from "../action.ts";
import { ConfirmDialog } from "../confirm-dialog.tsx";
import { Dialog } from "../dialog.tsx";
import { Read } from "../loading/read.tsx";
import { SmallTable } from "../small-table.tsx";
import type { ViewPage } from "./definition.ts";
import { type ListShape, ViewForm } from "./view-form.tsx";
import { queryOfView, urlOfView, VIEW, viewPaths } from "./view-href.ts";
import { PinButton, setPinned, usePins } from "./view-pins.tsx";

export interface ViewsDialogProps {
  readonly page: ViewPage;
  /** The columns that the list shows. */
  readonly columns: readonly string[];
  readonly onClose: () => void;
}

/** The views of the list that the user may open, and a form that saves what the list shows as another one. */
export default function ViewsDialog({ page, columns, onClose }: ViewsDialogProps): ReactElement {
  const teamId = useTeamId();
  const ofTeam = isPremium() && teamId !== null ? { team_id: teamId } : {};
  const reply = useRead(viewsApi.list, { query: { of: page, ...ofTeam } });
  const [edited, setEdited] = useState<View | null>(null);
  const [deleted, setDeleted] = useState<View | null>(null);
  const [hasChanges, setHasChanges] = useState(false);
  const state = { query: queryOfView(useUrl().all), columns };
  return (
    <Dialog title="Views" isWide hasChanges={hasChanges} onClose={onClose}>
      {edited === null ? (
        <>
          <Read from={reply} what="views">
            {({ views }) => (
              <ViewsTable views={views} state={state} onOpen={onClose} onEdit={setEdited} onDelete={setDeleted} />
            )}
          </Read>
          <ViewForm key="new" page={page} view={null} state={state} onChange={setHasChanges} onDone={() => undefined} />
        </>
      ) : (
        <ViewForm
          key={edited.id}
          page={page}
          view={edited}
          state={state}
          onChange={setHasChanges}
          onDone={() => setEdited(null)}
        />
      )}
      {deleted !== null && <DeleteDialog view={deleted} onClose={() => setDeleted(null)} />}
    </Dialog>
  );
}

interface ViewsTableProps {
  readonly views: readonly View[];
  readonly state: ListShape;
  readonly onOpen: () => void;
  readonly onEdit: (view: View) => void;
  /** For views of others: asks first. */
  readonly onDelete: (view: View) => void;
}

function ViewsTable({ views, state, onOpen, ...on }: ViewsTableProps): ReactElement {
  const { available_teams, user } = useSession();
  const opened = useUrl().get(VIEW);
  const sharedWith = ({ shared, team_id }: View): string => {
    if (shared === "me") return "nobody";
    if (shared === "everyone") return "everyone";
    return available_teams.find(({ id }) => id === team_id)?.name ?? `team ${team_id}`;
  };
  return (
    <SmallTable
      name="Saved views"
      rows={views}
      keyOf={({ id }) => id}
      columns={[
        {
          name: "Name",
          cell: (view) => (
            <PageLink
              href={viewPaths[view.page] ?? ""}
              query={{ team_id: null, ...urlOfView(view) }}
              aria-current={opened === String(view.id) ? "page" : undefined}
              onClick={onOpen}
            >
              {view.name}
            </PageLink>
          ),
        },
        { name: "Shared with", cell: sharedWith },
        { name: "By", cell: ({ created_by }) => (created_by?.id === user.id ? "you" : (created_by?.name ?? "")) },
        { name: "Actions", cell: (view) => <ViewButtons view={view} state={state} {...on} /> },
      ]}
      empty="No view of this list is saved yet. A view stores its filters, order and columns under a name. On the command line: svc views create."
    />
  );
}

interface ViewButtonsProps extends Pick<ViewsTableProps, "state" | "onEdit" | "onDelete"> {
  readonly view: View;
}

function ViewButtons({ view, state, onEdit, onDelete }: ViewButtonsProps): ReactElement {
  const outdate = useOutdate();
  const remove = useRemoval();
  const update = useAction(async () => {
    const modify = (shape: ListShape | View) => {
      const { query, columns } = shape;
      const body = { query: { ...query }, columns: columns === null ? null : [...columns] };
      return request(() => client.call(viewsApi.modify, { params: { id: String(view.id) }, body }));
    };
    await modify(state);
    await outdate(viewsApi.list, viewsApi.get);
    const undo = async () => {
      await modify(view);
      await outdate(viewsApi.list, viewsApi.get);
      return `${view.name} is as it was.`;
    };
    notifyDone(`${view.name} is what the list shows now.`, { undo });
  });
  const mayWrite = view.shared === "me" || may("views:share", view.team_id);
  return (
    <span className="buttons">
      <PinButton view={view} />
      {mayWrite && (
        <>
          <button type="button" className="plain small" aria-label={`Update ${view.name}`} onClick={() => update.run()}>
            Update
          </button>
          <button type="button" className="plain small" aria-label={`Edit ${view.name}`} onClick={() => onEdit(view)}>
            Edit
          </button>
          <button
            type="button"
            className="danger small"
            aria-label={`Delete ${view.name}`}
            onClick={() => (view.shared === "me" ? remove.run(view) : onDelete(view))}
          >
            Delete
          </button>
        </>
      )}
    </span>
  );
}

/** Deletes a view that nobody else sees, which can be undone: nobody can have pinned it. */
function useRemoval() {
  const outdate = useOutdate();
  const pins = usePins();
  return useAction(async (view: View) => {
    const wasPinned = pins.has(view);
    await request(() => client.call(viewsApi.delete, { params: { id: String(view.id) } }));
    if (wasPinned) setPinned(view, false);
    await outdate(viewsApi.list);
    const undo = async () => {
      const { name, page, query, columns } = view;
      const body = { name, page, query, columns, shared: "me" as const };
      const restored = await request(() => client.call(viewsApi.create, { body }));
      if (wasPinned) setPinned(restored.view, true);
      await outdate(viewsApi.list);
      return `${name} is there again.`;
    };
    notifyDone(`${view.name} is deleted.`, { undo });
  });
}

function DeleteDialog({ view, onClose }: { readonly view: View; readonly onClose: () => void }): ReactElement {
  const outdate = useOutdate();
  return (
    <ConfirmDialog
      title={`Delete ${view.name}`}
      verb="Delete"
      onConfirm={async () => {
        await client.call(viewsApi.delete, { params: { id: String(view.id) } });
        notifyDone(`${view.name} is deleted.`);
        await outdate(viewsApi.list).catch(notifyFailed);
      }}
      onClose={onClose}
    >
      <p>{view.shared === "everyone" ? "Everyone" : "Everyone in the team"} loses it. This cannot be undone.</p>
    </ConfirmDialog>
  );
}
