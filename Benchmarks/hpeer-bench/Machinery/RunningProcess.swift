import Foundation

/// What Linux tells about a process while it lives (proc(5)).
struct RunningProcess: Sendable {
  let pid: pid_t

  /// Highest resident memory so far, in bytes.
  ///
  /// Not wait4(2)'s: `ru_maxrss` of a process begins with the memory of the one that started it.
  var peak: Int { (status("VmHWM") ?? 0) * 1024 }

  /// User and system time so far.
  var cpuSeconds: Double {
    let text = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
    // The name, which may hold anything, ends at the last parenthesis; fields 14 and 15 of proc_pid_stat(5).
    let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
    guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else { return 0 }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// Seconds that its threads have run so far, finer than ``cpuSeconds``; those that have ended do not count.
  var processorTime: Double {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
    return threads.reduce(0) { sum, thread in
      // The first number of schedstat is nanoseconds on a processor.
      let text = (try? String(contentsOfFile: "/proc/\(pid)/task/\(thread)/schedstat", encoding: .utf8)) ?? ""
      return sum + (text.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1e9
    }
  }

  /// How often one of its threads has gone to sleep.
  var sleeps: Int {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
    return threads.reduce(0) { $0 + (status("voluntary_ctxt_switches", of: "task/\($1)/") ?? 0) }
  }

  private func status(_ name: String, of thread: String = "") -> Int? {
    let text = (try? String(contentsOfFile: "/proc/\(pid)/\(thread)status", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
      .flatMap { $0.split { !$0.isNumber }.first }.flatMap { Int($0) }
  }
}
