import type { ReactElement } from "react";
import { Badge, type Tone } from "../../../parts/badge.tsx";

const toneOf = (score: number): Tone => (score >= 9 ? "bad" : score >= 7 ? "note" : "quiet");

/** A score from 0 to 10 (CVSS). */
export const Severity = ({ score }: { readonly score: number | null }): ReactElement | null =>
  score === null ? null : <Badge tone={toneOf(score)}>{score.toFixed(1)}</Badge>;
