import { useQuery } from "@tanstack/react-query";
import { type ReactElement, useState } from "react";
import { Combobox } from "../combobox.tsx";
import { Dialog } from "../dialog.tsx";
import { useSettled } from "../form/use-settled.ts";
import type { FilterOption } from "./definition.ts";

interface FindPickerProps {
  readonly title: string;
  readonly find: (text: string) => Promise<readonly FilterOption[]>;
  readonly onSelect: (value: string) => void;
  readonly onClose: () => void;
}

/** A dialog in which one of many is found by typing a part of its name: the server looks for it. */
export function FindPicker({ title, find, onSelect, onClose }: FindPickerProps): ReactElement {
  const [text, setText] = useState("");
  const settled = useSettled(text.trim());
  const reply = useQuery({ queryKey: ["find", title, settled], queryFn: () => find(settled), staleTime: 10_000 });
  const options = reply.data ?? [];
  return (
    <Dialog title={title} onClose={onClose}>
      <Combobox
        label={`Find: ${title}`}
        listLabel={title}
        value={text}
        onChange={setText}
        isAlwaysOpen
        autoFocus
        options={options.map(({ value, label }) => ({ id: value, content: label }))}
        onSelect={onSelect}
      />
      {reply.isSuccess && options.length === 0 && <p className="quiet">Nothing has this name.</p>}
    </Dialog>
  );
}
