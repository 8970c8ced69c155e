import { type ReactElement, useState } from "react";
import { type SetupTitle, setupExperienceApi } from "../../../../api/delivery/setup-experience.ts";
import { type SetupPlatform, setupPlatforms } from "../../../../api/setup-platforms.ts";
import { useRead } from "../../../api.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { Card } from "../../../parts/card.tsx";
import { InlineSelect } from "../../../parts/form/inline-select.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { roleTeam } from "../../../parts/one-team.tsx";
import { platformName } from "../../../parts/platforms.ts";
import { may } from "../../../session.ts";
import { SetupSoftwareForm } from "./setup-software-form.tsx";
import { isChosen, platformParameter, titleName } from "./setup-titles.ts";

interface SetupSoftwareCardProps {
  readonly teamId: number;
}

/** What hosts of each platform install during their setup, in its order. */
export function SetupSoftwareCard({ teamId }: SetupSoftwareCardProps): ReactElement {
  const [platform, setPlatform] = useState<SetupPlatform>("darwin");
  const input = { query: { team_id: teamId, platform: platformParameter(platform) } };
  const reply = useRead(setupExperienceApi.software, input);
  return (
    <Card title="Software">
      <InlineSelect
        label="Platform"
        options={setupPlatforms.map((candidate) => ({ value: candidate, label: platformName(candidate) }))}
        value={platform}
        onChange={setPlatform}
      />
      <Read from={reply} what="software">
        {({ software_titles }) => {
          if (reply.isPlaceholderData) return <p className="loading">Loading software</p>;
          if (software_titles.length === 0)
            return <p>The team offers no software for {platformName(platform)} that a setup could install.</p>;
          return may("setup:write", roleTeam(teamId)) ? (
            <SetupSoftwareForm key={platform} platform={platform} teamId={teamId} titles={software_titles} />
          ) : (
            <ChosenTitles titles={software_titles.filter(isChosen)} />
          );
        }}
      </Read>
    </Card>
  );
}

const ChosenTitles = ({ titles }: { readonly titles: readonly SetupTitle[] }) => (
  <ol>
    {titles.map((title) => (
      <li key={title.id}>
        <PageLink href={`/software/titles/${title.id}`}>{titleName(title)}</PageLink>
      </li>
    ))}
  </ol>
);
