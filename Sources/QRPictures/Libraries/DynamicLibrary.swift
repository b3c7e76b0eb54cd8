import Glibc

/// A library of the system that is loaded when it is needed, and stays until the process ends.
struct DynamicLibrary {
  private let handle: UnsafeMutableRawPointer

  /// `nil` where it is not installed.
  init?(_ name: String) {
    guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
    self.handle = handle
  }

  /// A function by its name; `nil` where the library has none of it.
  ///
  /// - Parameter type: a `@convention(c)` function type as the library's header declares it.
  func function<Function>(_ name: String, _ type: Function.Type) -> Function? {
    guard let symbol = dlsym(handle, name), MemoryLayout<Function>.size == MemoryLayout<UnsafeRawPointer>.size else {
      return nil
    }
    // A pointer to a C function and its address are the same bits.
    return unsafeBitCast(symbol, to: type)
  }
}
