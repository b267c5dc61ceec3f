/** Which platforms run from the packages of a clone: these must not be taken away below them. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { installingIn } from './installing.mjs'

/** The process ids of those that run from the clone `root`, this process aside, and those that wait for its packages. */
export function platformsOf(root, hasFiles = existsSync('/proc/self/cmdline')) {
  const program = join(root, 'scripts', 'lockstep.mjs')
  const found = hasFiles
    ? readdirSync('/proc').filter(
        (pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid && isPlatform(pid, root, program),
      )
    : listed(program)
  const installing = installingIn(root)
  return found.filter((pid) => !installing.includes(pid))
}

/** Not what starts a program and waits for it, as `timeout`, `sudo` or `tini`: that has its words as well. */
const isNode = /^([./].*\/)?node[^/]*$/

function isPlatform(pid, root, program) {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    const at = words.findIndex((word) => /(^|\/)scripts\/(start|lockstep)\.mjs$/.test(word))
    if (at < 1 || !isNode.test(words[0])) return false
    // As it was typed: only of a process of this user the system says from where.
    const path = words[at].startsWith('/') ? words[at] : resolve(readlinkSync(`/proc/${pid}/cwd`), words[at])
    return path === join(root, 'scripts', 'start.mjs') || (path === program && keepsRunning(words[at + 1]))
  } catch {
    // It has ended, or is somebody else's.
    return false
  }
}

const keepsRunning = (command) => ['start', 'serve', 'worker'].includes(command)

/** Where the system has no such files: those that `start` keeps alive have the whole path in their command. */
function listed(program) {
  const { stdout } = spawnSync('ps', ['-axo', 'pid=,command='], { encoding: 'utf8' })
  return (stdout ?? '').split('\n').flatMap((line) => {
    const [, pid, command = ''] = /^ *(\d+) (.*)$/.exec(line) ?? []
    const at = command.indexOf(` ${program} `)
    const starter = command.slice(0, at).replace(/ -.*/, '')
    return at > 0 &&
      isNode.test(starter) &&
      keepsRunning(command.slice(at + program.length + 2).split(' ')[0])
      ? [pid]
      : []
  })
}
