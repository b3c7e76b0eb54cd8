import Foundation
import Glibc

/// A process and all processes that it has started, even those that left its group and session (setsid(2)) or whose
/// parent has exited: they still have the mark in their environment.
struct ProcessTree {
  /// The process that started the others; `nil` if it may have exited. It must not have been reaped (waitpid(2)), so
  /// that its process ID is not reused.
  let root: pid_t?
  /// The environment entry that identifies the processes, such as `RUN=2F6C…`. No other process has it.
  let mark: String

  /// The maximum number of searches for new processes; a program that keeps starting processes faster may escape.
  private static let mostRounds = 100

  /// Kills all of them. Reads all of /proc.
  func kill() {
    // Stop each process first, so that it cannot start another during the search.
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

  /// Returns the processes that are alive.
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

  /// Returns the state and the parent of a process, as in proc(5); `nil` if it has exited.
  private static func status(of process: pid_t) -> (state: Substring, parent: pid_t)? {
    guard case .text(let text) = FileContents(path: "/proc/\(process)/stat"), let end = text.lastIndex(of: ")") else {
      return nil
    }
    // Skip the name in parentheses, which may contain anything.
    let fields = text[text.index(after: end)...].split(separator: " ", maxSplits: 2)
    guard fields.count > 2, let parent = pid_t(fields[1]) else { return nil }
    return (fields[0], parent)
  }
}
