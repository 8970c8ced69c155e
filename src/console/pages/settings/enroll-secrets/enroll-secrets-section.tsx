import { type ReactElement, useState } from "react";
import { SectionPage } from "../section-page.tsx";
import { GlobalSecrets } from "./enroll-secrets.tsx";

/** The secrets of hosts without a team. They are read only when the user wants to see them. */
export function EnrollSecretsSection(): ReactElement {
  const [isShown, setShown] = useState(false);
  return (
    <SectionPage id="enroll-secrets">
      <p>Agents that enroll with one of these secrets get no team. The secrets of a team are listed with the team.</p>
      {isShown ? (
        <GlobalSecrets />
      ) : (
        <button type="button" className="plain" onClick={() => setShown(true)}>
          Show secrets
        </button>
      )}
    </SectionPage>
  );
}
