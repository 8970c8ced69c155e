import type { ReactElement, ReactNode } from "react";
import { type LabelUse, type LabelUses, labelEffectsApi } from "../../../../api/hosts/label-effects.ts";
import type { LabelItem } from "../../../../api/hosts/labels.ts";
import { useRead } from "../../../api.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { counted } from "../../../parts/counted.ts";
import { Dialog } from "../../../parts/dialog.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";

const nouns: Readonly<Record<LabelUse["kind"], string>> = {
  policy: "policy",
  query: "query",
  pack: "pack",
  package: "package",
  store_app: "store app",
  profile: "profile",
  label: "label",
  view: "saved view",
};

const effects: Readonly<Record<LabelUse["on_delete"], string>> = {
  refused: "keeps the label from being deleted",
  stopped: "goes to no further host",
  untargeted: "loses these hosts",
  unmatched: "finds no hosts by this label any more",
};

/** The pages of kinds that have one. */
const pages: Partial<Record<LabelUse["kind"], (id: LabelUse["id"]) => string>> = {
  policy: (id) => `/policies/${id}`,
  query: (id) => `/queries/${id}`,
  package: (id) => `/software/titles/${id}`,
  store_app: (id) => `/software/titles/${id}`,
  label: (id) => `/hosts?label_id=${id}`,
};

const teamOf = ({ team_id, team_name }: LabelUse): string =>
  team_id === null ? "all teams" : team_id === 0 ? "No team" : (team_name ?? String(team_id));

export const useLabelUses = (label: LabelItem) =>
  useRead(labelEffectsApi.uses, { params: { id: String(label.id) } }, { staleTime: 0 });

/** What names a label, and what becomes of it if the label is deleted. */
export function UsesTable({ uses: { uses, hidden_count } }: { readonly uses: LabelUses }): ReactElement {
  return (
    <>
      <SmallTable
        name="Uses"
        rows={uses}
        keyOf={({ kind, id, as }) => `${kind} ${id} ${as}`}
        columns={[
          { name: "Name", cell: linkedName },
          { name: "Kind", cell: ({ kind }) => nouns[kind] },
          { name: "Team", cell: teamOf },
          { name: "If the label is deleted", cell: ({ on_delete }) => effects[on_delete] },
        ]}
        empty={hidden_count === 0 ? "Nothing uses this label." : "Nothing that you may see uses this label."}
      />
      {hidden_count > 0 && <p className="quiet">{counted(hidden_count, "use")} that you may not see.</p>}
    </>
  );
}

function linkedName({ kind, id, name }: LabelUse): ReactNode {
  const page = pages[kind]?.(id);
  return page === undefined ? name : <PageLink href={page}>{name}</PageLink>;
}

interface LabelUsesDialogProps {
  readonly label: LabelItem;
  readonly onClose: () => void;
}

export function LabelUsesDialog({ label, onClose }: LabelUsesDialogProps): ReactElement {
  const reply = useLabelUses(label);
  return (
    <Dialog title={`Uses of ${label.name}`} isWide onClose={onClose}>
      <Read from={reply} what="uses">
        {(uses) => <UsesTable uses={uses} />}
      </Read>
    </Dialog>
  );
}
