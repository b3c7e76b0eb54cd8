import Foundation
import Glibc

/// A process and all that it has started, also what has left its group and session (setsid(2)), or whose parent is gone: that
/// has the mark in its environment still.
struct ProcessTree {
  /// The process that started the others; `nil` where it may be gone. It must not have been reaped (waitpid(2)), so that its
  /// number is not reused.
  let root: pid_t?
  /// As in an environment, such as `RUN=2F6C…`; no other process has it.
  let mark: String

  /// How often it is looked for more of them: what starts others faster than that is not waited for.
  private static let mostRounds = 100

  /// Ends all of them. Reads all of /proc.
  func kill() {
    // None starts another while it is looked for the rest.
    var stopped: Set<pid_t> = []
    for _ in 0..<Self.mostRounds {
      let others = members().subtracting(stopped)
      if others.isEmpty { break }
      for process in others { _ = Glibc.kill(process, SIGSTOP) }
      stopped.formUnion(others)
    }
    // Also where /proc shows none.
    for process in stopped.union([root].compactMap(\.self)) { _ = Glibc.kill(process, SIGKILL) }
  }

  /// Those that live.
  private func members() -> Set<pid_t> {
    var (members, children): (Set<pid_t>, [pid_t: [pid_t]]) = ([], [:])
    for process in Self.processes() {
      guard let (state, parent) = Self.status(of: process), state != "Z", state != "X" else { continue }
      children[parent, default: []].append(process)
      if process == root || isMarked(process) { members.insert(process) }
    }
    var open = Array(members)
    while let process = open.popLast() {
      for child in children[process] ?? [] where members.insert(child).inserted { open.append(child) }
    }
    return members
  }

  private func isMarked(_ process: pid_t) -> Bool {
    guard case .text(let text) = FileContents(path: "/proc/\(process)/environ") else { return false }
    return text.utf8.split(separator: 0).contains { $0.elementsEqual(mark.utf8) }
  }

  private static func processes() -> [pid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }
  }

  /// As proc(5) has them; `nil` where it is gone.
  private static func status(of process: pid_t) -> (state: Substring, parent: pid_t)? {
    guard case .text(let text) = FileContents(path: "/proc/\(process)/stat"), let end = text.lastIndex(of: ")") else {
      return nil
    }
    // Behind the name, which may hold anything.
    let fields = text[text.index(after: end)...].split(separator: " ", maxSplits: 2)
    guard fields.count > 2, let parent = pid_t(fields[1]) else { return nil }
    return (fields[0], parent)
  }
}
