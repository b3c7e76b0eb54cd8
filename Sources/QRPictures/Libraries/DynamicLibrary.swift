import Glibc

/// A system library that is loaded when it is needed and stays loaded until the process exits.
struct DynamicLibrary {
  private let handle: UnsafeMutableRawPointer

  /// Loads a library; `nil` if it is not installed.
  init?(_ name: String) {
    guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
    self.handle = handle
  }

  /// Returns a function by its name; `nil` if the library does not have it.
  ///
  /// - Parameter type: a `@convention(c)` function type as declared in the library's header.
  func function<Function>(_ name: String, _ type: Function.Type) -> Function? {
    guard let symbol = dlsym(handle, name), MemoryLayout<Function>.size == MemoryLayout<UnsafeRawPointer>.size else {
      return nil
    }
    // A pointer to a C function and its address are the same bits.
    return unsafeBitCast(symbol, to: type)
  }
}
