/** Whose turn it is to install in a clone: api and worker may be started at the same moment, and npm empties the folder. */
import { linkSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { uptime } from 'node:os'
import { join } from 'node:path'

const turnName = '.installing'
const markOf = (root, pid) => join(root, `${turnName}-${pid}`)

const isAlive = (pid) => {
  try {
    return process.kill(Number(pid), 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** The processes that install, or wait for who does: none of them runs from the packages yet. */
export const installingIn = (root) =>
  readdirSync(root).flatMap((name) =>
    name.startsWith(`${turnName}-`) ? [name.slice(turnName.length + 1)] : [],
  )

/** Waits that long, of a program of which nothing else goes on meanwhile. */
export const wait = (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

/** Where files or links cannot be made, or whoever sees other processes than we do clears ours away. */
const cannotBeMade = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'ENOTSUP', 'EOPNOTSUPP', 'ENOENT']

/** Does the work once no other process does such in the clone. Where nobody can say that it is his turn, npm says why. */
export function inTurn(root, work) {
  const turn = join(root, turnName)
  let hasTurn = false
  const leave = () => {
    if (hasTurn) rmSync(turn, { force: true })
    rmSync(markOf(root, process.pid), { force: true })
  }
  // The work may end the process.
  process.once('exit', leave)
  try {
    for (const pid of installingIn(root)) if (!isAlive(pid)) rmSync(markOf(root, pid), { force: true })
    writeFileSync(markOf(root, process.pid), String(process.pid))
    hasTurn = takes(turn, markOf(root, process.pid))
    if (!hasTurn) console.error('Waiting for the process that installs the locked dependencies ...')
    while (!hasTurn) {
      wait(200)
      hasTurn = takes(turn, markOf(root, process.pid))
    }
  } catch (error) {
    if (!cannotBeMade.includes(error.code)) throw error
  }
  work()
  leave()
  process.off('exit', leave)
}

/** Takes the turn where nobody has it, or whoever had it was killed. */
function takes(turn, mark) {
  try {
    linkSync(mark, turn) // whole at once: a disk that is full leaves no turn of nobody
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  if (isLeft(turn)) rmSync(turn, { force: true })
  return false
}

/** Longer than npm takes. */
const turnMs = 600_000

/** Whether the process whose turn it was is gone; another may have its id by now, at the latest after a start of the machine. */
function isLeft(turn) {
  try {
    const pid = readFileSync(turn, 'utf8')
    const age = Date.now() - statSync(turn).mtimeMs
    return Number(pid) === process.pid || !isAlive(pid) || age > Math.min(turnMs, uptime() * 1000)
  } catch {
    // It was given back meanwhile.
    return false
  }
}
