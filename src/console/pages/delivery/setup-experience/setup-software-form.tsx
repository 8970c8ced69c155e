import { type ReactElement, useState } from "react";
import { type SetupTitle, setupExperienceApi } from "../../../../api/delivery/setup-experience.ts";
import type { SetupPlatform } from "../../../../api/setup-platforms.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { PageLink } from "../../../frame/page-link.tsx";
import { Combobox } from "../../../parts/combobox.tsx";
import { Form } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { platformName } from "../../../parts/platforms.ts";
import { isChosen, platformParameter, titleName } from "./setup-titles.ts";

interface SetupSoftwareFormProps {
  readonly platform: SetupPlatform;
  readonly teamId: number;
  /** What could be installed; first what is installed, in its order. */
  readonly titles: readonly SetupTitle[];
}

const chosenIds = (titles: readonly SetupTitle[]): number[] => titles.filter(isChosen).map(({ id }) => id);

/** Chooses and orders the software of one platform. */
export function SetupSoftwareForm({ platform, teamId, titles }: SetupSoftwareFormProps): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: { software_title_ids: chosenIds(titles) },
    send: ({ software_title_ids }, options) => {
      const body = { platform: platformParameter(platform), team_id: teamId, software_title_ids };
      return client.call(setupExperienceApi.setSoftware, { body }, options);
    },
    storedLists: async () => {
      const query = { team_id: teamId, platform: platformParameter(platform) };
      const { software_titles } = await client.call(setupExperienceApi.software, { query });
      return { software_title_ids: chosenIds(software_titles) };
    },
    onDone: () => {
      notifyDone(`What ${platformName(platform)} hosts install during their setup is saved.`);
      void outdate(setupExperienceApi.software);
    },
  });
  const ids = form.values.software_title_ids;
  const set = (next: readonly number[]) => form.set("software_title_ids", [...next]);
  const byId = new Map(titles.map((title) => [title.id, title]));
  const chosen = ids.flatMap((id) => byId.get(id) ?? []);
  const error = form.errorOf("software_title_ids");
  return (
    <Form form={form} submit="Save software">
      <p role="status">
        {chosen.length === 0 ? "Nothing is installed during the setup." : `${chosen.length} of ${titles.length} chosen`}
      </p>
      <ol aria-label="Installed during the setup">
        {chosen.map((title, position) => (
          <li key={title.id}>
            <ChosenTitle
              title={title}
              isFirst={position === 0}
              onUp={() => set(movedUp(ids, position))}
              onRemove={() => set(ids.filter((id) => id !== title.id))}
            />
          </li>
        ))}
      </ol>
      <AddTitle titles={titles.filter(({ id }) => !ids.includes(id))} onAdd={(id) => set([...ids, id])} />
      {error !== null && (
        <p className="wrong" role="alert">
          {error}
        </p>
      )}
    </Form>
  );
}

function movedUp(ids: readonly number[], position: number): readonly number[] {
  const next = [...ids];
  next.splice(position - 1, 0, ...next.splice(position, 1));
  return next;
}

interface ChosenTitleProps {
  readonly title: SetupTitle;
  readonly isFirst: boolean;
  readonly onUp: () => void;
  readonly onRemove: () => void;
}

const ChosenTitle = ({ title, isFirst, onUp, onRemove }: ChosenTitleProps) => (
  <span className="buttons">
    <PageLink href={`/software/titles/${title.id}`}>{titleName(title)}</PageLink>
    <button
      type="button"
      className="plain small"
      aria-label={`Move up ${titleName(title)}`}
      disabled={isFirst}
      onClick={onUp}
    >
      Move up
    </button>
    <button type="button" className="plain small" aria-label={`Remove ${titleName(title)}`} onClick={onRemove}>
      Remove
    </button>
  </span>
);

interface AddTitleProps {
  /** What is not chosen yet. */
  readonly titles: readonly SetupTitle[];
  readonly onAdd: (id: number) => void;
}

const MAX_SHOWN = 50;

function AddTitle({ titles, onAdd }: AddTitleProps): ReactElement {
  const [text, setText] = useState("");
  const matches = titles.filter((title) => titleName(title).toLowerCase().includes(text.trim().toLowerCase()));
  return (
    <Combobox
      label="Add software"
      listLabel="Software"
      placeholder="Add software by its name"
      value={text}
      onChange={setText}
      options={matches.slice(0, MAX_SHOWN).map((title) => ({ id: String(title.id), content: titleName(title) }))}
      onSelect={(id) => {
        setText("");
        onAdd(Number(id));
      }}
    />
  );
}
