/**
 * A `fetch` for the SDKs of others, whose answers are there whole before an SDK sees them. One that reads the body of
 * a refusal from a copy leaves the rest of the answer to fail where nobody listens, and the process ends; of a body cut
 * short it may believe the status.
 */

/** Thousands of positions have some hundred bytes each. */
const answerMaxBytes = 32 * 1024 * 1024

/** Reads the body before it answers, within the same signal. Rejects where the body does not come to its end. */
export const fetchWhole: typeof fetch = async (input, init) => {
  const answer = await fetch(input, init)
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > answerMaxBytes) throw new Error(`an answer has more than ${answerMaxBytes} bytes`)
  }
  // Without its phrase, which may be in letters that a header cannot hold.
  const { status, headers } = answer
  return new Response(bytes === 0 ? null : Buffer.concat(chunks), { status, headers })
}
