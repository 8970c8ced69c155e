import { autocompletion, closeBrackets, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { SQLite, sql } from "@codemirror/lang-sql";
import { bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView, keymap, placeholder as placeholderOf } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { type ReactElement, useEffect, useRef } from "react";
import { agentTablesApi } from "../../../api/checks/agent-tables.ts";
import { useRead } from "../../api.ts";

interface SqlEditorProps {
  readonly labelledBy: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly onBlur: () => void;
  readonly isInvalid: boolean;
  /** Whether the field that the editor replaces had the focus. */
  readonly isFocused: boolean;
}

const DAY_MS = 86_400_000;

/**
 * An editor for SQL, with completion of the agents' tables and columns. Tab leaves it, as it leaves every field; only
 * in the list of completions it selects.
 */
export default function SqlEditor({
  labelledBy,
  placeholder,
  value,
  onChange,
  onBlur,
  isInvalid,
  isFocused,
}: SqlEditorProps): ReactElement {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const language = useRef(new Compartment());
  const handlers = useRef({ onChange, onBlur });
  handlers.current = { onChange, onBlur };
  const { data } = useRead(agentTablesApi.list, {}, { staleTime: DAY_MS });

  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once, and told of changes below
  useEffect(() => {
    const editor = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc: value,
        extensions: extensions({ labelledBy, placeholder }, language.current, handlers),
      }),
    });
    view.current = editor;
    if (isFocused) {
      editor.dispatch({ selection: { anchor: editor.state.doc.length } });
      editor.focus();
    }
    return () => editor.destroy();
  }, []);

  useEffect(() => {
    const editor = view.current;
    if (editor !== null && editor.state.doc.toString() !== value)
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);

  useEffect(() => {
    if (data === undefined) return;
    const schema = Object.fromEntries(
      data.tables.map(({ name, columns }) => [name, columns.map((column) => column.name)]),
    );
    view.current?.dispatch({ effects: language.current.reconfigure(sql({ dialect: SQLite, schema })) });
  }, [data]);

  useEffect(() => {
    view.current?.contentDOM.setAttribute("aria-invalid", String(isInvalid));
  }, [isInvalid]);
  return <div ref={place} className="sql-editor" />;
}

function extensions(
  { labelledBy, placeholder }: Pick<SqlEditorProps, "labelledBy" | "placeholder">,
  language: Compartment,
  handlers: { readonly current: Pick<SqlEditorProps, "onChange" | "onBlur"> },
) {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";
  return [
    EditorView.cspNonce.of(nonce),
    EditorView.contentAttributes.of({ "aria-labelledby": labelledBy, spellcheck: "false" }),
    EditorView.lineWrapping,
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) handlers.current.onChange(state.doc.toString());
    }),
    EditorView.domEventHandlers({ blur: () => handlers.current.onBlur() }),
    history(),
    bracketMatching(),
    closeBrackets(),
    autocompletion(),
    syntaxHighlighting(classHighlighter),
    keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
    placeholderOf(placeholder),
    language.of(sql({ dialect: SQLite })),
  ];
}
