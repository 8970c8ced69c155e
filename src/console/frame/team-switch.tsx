import { type ReactElement, useState } from "react";
import { ListPicker } from "../parts/list-picker.tsx";
import { isPremium, useSession } from "../session.ts";
import { useTeamId, useUrl } from "../url.ts";

const ALL = "All teams";
const NO_TEAM = "No team";

/** The team whose objects are shown. It stays from page to page, in the URL. */
export function TeamSwitch(): ReactElement | null {
  const { available_teams, user } = useSession();
  const teamId = useTeamId();
  const url = useUrl();
  const [isOpen, setOpen] = useState(false);
  if (!isPremium() || (user.global_role === null && available_teams.length < 2)) return null;
  const options = [
    { id: "", name: ALL },
    ...available_teams.filter(({ id }) => id > 0).map(({ id, name }) => ({ id: String(id), name })),
    ...(user.global_role === null ? [] : [{ id: "0", name: NO_TEAM }]),
  ];
  const selected = teamId === null ? "" : String(teamId);
  const name = options.find(({ id }) => id === selected)?.name ?? `Team ${selected}`;
  return (
    <>
      <button type="button" className="plain team" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Team: {name}
      </button>
      {isOpen && (
        <ListPicker
          title="Team"
          options={options}
          selected={selected}
          onSelect={(id) => {
            setOpen(false);
            url.set({ team_id: id, page: null });
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
