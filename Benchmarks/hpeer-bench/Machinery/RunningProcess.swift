import Foundation

/// The statistics that Linux provides about a running process (proc(5)).
struct RunningProcess: Sendable {
  let pid: pid_t

  /// The peak resident memory so far, in bytes.
  ///
  /// wait4(2) can't be used, because a process's `ru_maxrss` starts with the memory of its parent.
  var peak: Int { (status("VmHWM") ?? 0) * 1024 }

  /// The user and system time so far, in seconds.
  var cpuSeconds: Double {
    let text = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
    // The name, which may hold anything, ends at the last parenthesis; fields 14 and 15 of proc_pid_stat(5).
    let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
    guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else { return 0 }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// The processor time of its running threads so far, in seconds. Finer than ``cpuSeconds``, but without threads
  /// that have ended.
  var processorTime: Double {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
    return threads.reduce(0) { sum, thread in
      // The first number of schedstat is nanoseconds on a processor.
      let text = (try? String(contentsOfFile: "/proc/\(pid)/task/\(thread)/schedstat", encoding: .utf8)) ?? ""
      return sum + (text.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1e9
    }
  }

  /// The number of times that its threads have gone to sleep.
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
