import Foundation

/// The name of a process for display.
public enum ProcessName {
  /// Returns a description such as `hpeer import (process 4711)`, or `process 4711` if the name is unknown.
  public static func of(_ process: Int32) -> String {
    let words = (try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8))?.split(separator: "\0") ?? []
    let program = words.first.map { URL(fileURLWithPath: String($0)).lastPathComponent } ?? ""
    if program.isEmpty { return "process \(process)" }
    // Only hpeer's subcommand is shown: arguments may be private.
    let command = program == "hpeer" && words.count > 1 && !words[1].hasPrefix("-") ? " \(words[1])" : ""
    return "\(program)\(command) (process \(process))"
  }
}
