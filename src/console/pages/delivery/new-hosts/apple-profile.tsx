import { type ReactElement, useState } from "react";
import { appleEnrollApi } from "../../../../api/devices/apple-enroll.ts";
import { client, request } from "../../../api.ts";
import { ErrorMessage } from "../../../parts/error-message.tsx";
import { useTeamChoice } from "../../../parts/one-team.tsx";
import { saveFile } from "../../../parts/save-file.ts";

/** The profile with which a single Mac, iPhone or iPad enrolls in device management. */
export function AppleProfile(): ReactElement {
  const { teams, first } = useTeamChoice("enroll_secrets:read");
  const [team, setTeam] = useState(first);
  const [error, setError] = useState<unknown>(null);
  const download = async () => {
    try {
      const query = team === 0 ? {} : { team_id: team };
      saveFile(await request(() => client.download(appleEnrollApi.manual, { query })));
      setError(null);
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <section className="card" aria-labelledby="apple">
      <h2 id="apple">Mac, iPhone and iPad</h2>
      <p>A profile enrolls one device in device management. It is opened on the device within a week.</p>
      {error !== null && <ErrorMessage error={error} />}
      <div className="toolbar">
        {teams.length > 1 && (
          <select aria-label="Team of the device" value={team} onChange={({ target }) => setTeam(Number(target.value))}>
            {teams.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
        <button type="button" className="plain" onClick={() => void download()}>
          Download profile
        </button>
      </div>
    </section>
  );
}
