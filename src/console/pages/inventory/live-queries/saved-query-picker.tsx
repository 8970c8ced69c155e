import { type ReactElement, useState } from "react";
import { queriesApi } from "../../../../api/checks/queries.ts";
import { useRead } from "../../../api.ts";
import { ListPicker } from "../../../parts/list-picker.tsx";
import { maySomewhere } from "../../../session.ts";
import { useTeamId, useUrl } from "../../../url.ts";

const MAX_QUERIES = 1_000;

/** The button with which a saved query is chosen: its id goes into the URL. */
export function SavedQueryPicker(): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const url = useUrl();
  const teamId = useTeamId();
  const { data } = useRead(
    queriesApi.list,
    {
      query: {
        per_page: MAX_QUERIES,
        order_key: "name",
        ...(teamId ? { team_id: teamId, merge_inherited: true } : {}),
      },
    },
    { enabled: isOpen },
  );
  const mayRunAny = maySomewhere("queries:run_new");
  const queries = (data?.queries ?? []).filter(({ observer_can_run }) => mayRunAny || observer_can_run);
  return (
    <>
      <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Choose a saved query
      </button>
      {isOpen && (
        <ListPicker
          title="Saved query"
          options={queries.map(({ id, name }) => ({ id: String(id), name }))}
          onSelect={(id) => {
            setOpen(false);
            url.set({ query_id: id, live_id: null, policy_id: null });
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
