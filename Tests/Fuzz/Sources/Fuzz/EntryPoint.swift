import Foundation
import FuzzTargets

/// The function that libFuzzer calls with each input. A failed assertion of the target ends the process, which
/// libFuzzer reports.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
  target(Array(UnsafeBufferPointer(start: data, count: size)))
  return 0
}

private let target: @Sendable ([UInt8]) -> Void = {
  let name = ProcessInfo.processInfo.environment["HPEER_FUZZ_TARGET"] ?? ""
  if let target = FuzzTarget.all[name] { return target }
  let names = FuzzTarget.all.keys.sorted().joined(separator: " ")
  FileHandle.standardError.write(Data("HPEER_FUZZ_TARGET is '\(name)', but must be one of: \(names)\n".utf8))
  exit(2)
}()
