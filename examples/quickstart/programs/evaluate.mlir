module @jit_evaluate attributes {mhlo.num_partitions = 16 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=16]> {stablehlo.mesh = {axes = [{name = "data", size = 16 : i64}]}}
  func.func public @main(%arg0: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg2: tensor<128x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg3: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg4: tensor<368x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg5: tensor<368xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}, %arg6: tensor<368xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) -> (tensor<f32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0 = stablehlo.dot_general %arg4, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<368x64xf32>, tensor<64x128xf32>) -> tensor<368x128xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<128xf32>) -> tensor<1x128xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<368x128xf32>
    %3 = stablehlo.add %0, %2 : tensor<368x128xf32>
    %4 = call @relu(%3) : (tensor<368x128xf32>) -> tensor<368x128xf32>
    %5 = stablehlo.dot_general %4, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<368x128xf32>, tensor<128x10xf32>) -> tensor<368x10xf32>
    %6 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<368x10xf32>
    %8 = stablehlo.add %5, %7 : tensor<368x10xf32>
    %9 = call @argmax(%8) : (tensor<368x10xf32>) -> tensor<368xi32>
    %10 = stablehlo.compare EQ, %9, %arg5, SIGNED : (tensor<368xi32>, tensor<368xi32>) -> tensor<368xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = call @_where(%10, %arg6, %cst) : (tensor<368xi1>, tensor<368xf32>, tensor<f32>) -> tensor<368xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<368xf32>, tensor<f32>) -> tensor<f32>
    return %12 : tensor<f32>
  }
  func.func private @relu(%arg0: tensor<368x128xf32>) -> tensor<368x128xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<368x128xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<368x128xf32>
    return %1 : tensor<368x128xf32>
  }
  func.func private @argmax(%arg0: tensor<368x10xf32>) -> tensor<368xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<368x10xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<368x10xf32>, tensor<368x10xi32>, tensor<f32>, tensor<i32>) -> (tensor<368xf32>, tensor<368xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<368xi32>
  }
  func.func private @_where(%arg0: tensor<368xi1>, %arg1: tensor<368xf32>, %arg2: tensor<f32>) -> tensor<368xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<368xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<368xi1>, tensor<368xf32>
    return %2 : tensor<368xf32>
  }
}

