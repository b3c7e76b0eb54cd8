import Foundation

/// What a process is called for a person.
public enum ProcessName {
  /// `hpeer import (process 4711)`, or `process 4711` where nothing is known of it.
  public static func of(_ process: Int32) -> String {
    let words = (try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8))?.split(separator: "\0") ?? []
    let program = words.first.map { URL(fileURLWithPath: String($0)).lastPathComponent } ?? ""
    if program.isEmpty { return "process \(process)" }
    // What is done, and not to what: other programs' arguments are nobody's business.
    let command = program == "hpeer" && words.count > 1 && !words[1].hasPrefix("-") ? " \(words[1])" : ""
    return "\(program)\(command) (process \(process))"
  }
}
